import Synchronization
import SystemPackage

/// A file of an artifact: where it is inside the folder, how long, and its digest.
public struct OutputEntry: Hashable, Sendable, Codable {
  /// Relative to the artifact's folder, `/` between parts.
  public var path: String
  public var bytes: Int64
  public var sha256: Digest

  public init(path: String, bytes: Int64, sha256: Digest) {
    self.path = path
    self.bytes = bytes
    self.sha256 = sha256
  }
}

/// The folder that a stage writes into before it is published, and the list of what it wrote.
///
/// Used by several threads at once; every file is written by one of them and digested on the way.
public final class StagingFolder: Sendable {
  public let path: FilePath
  private let contents = Mutex(Contents())

  private struct Contents {
    var entries: [OutputEntry] = []
    /// Names that were given out, finished or not.
    var names: Set<String> = []
    var bytes: Int64 = 0
    /// When the free space was last looked at.
    var checkedBytes: Int64 = 0
  }

  /// The free space is looked at each time this much has been written.
  private static let bytesBetweenChecks: Int64 = 32 << 20

  /// The one name that a stage may not use: the engine's own record, written last.
  public static let reservedName = "artifact.json"

  /// Makes an empty folder at `path`, removing what was there.
  public init(at path: FilePath) throws(FileError) {
    try FileSystem.remove(path)
    try FileSystem.makeFolder(path)
    self.path = path
  }

  /// Writes a whole file. `name` is relative, without `.` and `..`, and not used before; folders in it
  /// are made.
  public func write(_ bytes: [UInt8], as name: String) throws(FileError) {
    let name = try claim(name)
    try checkSpace()
    try OutputFile.write(bytes, to: try place(for: name))
    record(name, bytes: Int64(bytes.count), digest: Digest(of: bytes))
  }

  /// Starts a file that is written piece by piece.
  public func create(_ name: String) throws(FileError) -> StagedFile {
    let name = try claim(name)
    try checkSpace()
    return try StagedFile(name: name, path: place(for: name), folder: self)
  }

  /// Takes note of a file that someone else wrote into the folder (an external program): digests it.
  /// Symbolic links are refused, in the folders above it too: an artifact holds its own bytes.
  public func adopt(_ name: String) throws(FileError) {
    let name = try claim(name)
    var file = path
    for component in FilePath(name).components {
      file.append(component)
      if FileSystem.isLink(file) {
        throw FileError(
          kind: .other, path: file, operation: "publish", reason: "is a symbolic link",
          remedy: "write the file itself")
      }
    }
    record(
      name, bytes: try FileIdentity(of: file).bytes, digest: try Digest(ofFileAt: file))
  }

  /// All files written so far, sorted by path.
  public var outputs: [OutputEntry] {
    contents.withLock { $0.entries }.sorted { $0.path < $1.path }
  }

  /// Bytes written so far.
  public var bytesWritten: Int64 { contents.withLock { $0.bytes } }

  /// Stops short of a full disk, so that what is published, the journal and everybody else still find
  /// some room.
  private func checkSpace() throws(FileError) {
    let isDue = contents.withLock { contents in
      guard contents.bytes - contents.checkedBytes >= Self.bytesBetweenChecks else { return false }
      contents.checkedBytes = contents.bytes
      return true
    }
    if isDue { try FileSystem.checkSpace(for: 0, at: path) }
  }

  func record(_ name: String, bytes: Int64, digest: Digest) {
    contents.withLock {
      $0.entries.append(OutputEntry(path: name, bytes: bytes, sha256: digest))
      $0.bytes += bytes
    }
  }

  /// The one spelling of `name`, now taken.
  private func claim(_ name: String) throws(FileError) -> String {
    func refused(_ reason: String) -> FileError {
      FileError(kind: .other, path: FilePath(name), operation: "write", reason: reason)
    }
    let relative = FilePath(name)
    guard relative.isRelative, !relative.components.isEmpty,
      relative.components.allSatisfy({ $0.kind == .regular })
    else { throw refused("'\(name)' leads out of the artifact") }
    guard relative.string != Self.reservedName else { throw refused("is written by the engine") }
    guard contents.withLock({ $0.names.insert(relative.string).inserted }) else {
      throw refused("is written twice")
    }
    return relative.string
  }

  private func place(for name: String) throws(FileError) -> FilePath {
    let relative = FilePath(name).components
    let file = path.appending(relative)
    if relative.count > 1 { try FileSystem.makeFolder(file.removingLastComponent()) }
    return file
  }
}

extension [OutputEntry] {
  /// One digest over names, lengths and contents: what dependents compare.
  public var digest: Digest {
    Digest(
      of: sorted { $0.path < $1.path }
        .map { "\($0.path)\0\($0.bytes)\0\($0.sha256)\n" }.joined())
  }
}

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
/// Held by descriptor: what a program puts in its place is neither written to nor published. Used by
/// several threads at once; every file is written by one of them and digested on the way.
public final class StagingFolder: Sendable {
  public let path: FilePath
  /// The folder itself, the one it lies in, and its name there.
  public let folder: HeldFolder
  public let parent: HeldFolder
  public let name: String
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

  /// Makes an empty folder `name` in `parent`, removing what was there.
  public init(in parent: HeldFolder, name: String) throws(FileError) {
    try parent.remove(name)
    guard let folder = try parent.makeNewFolder(name) else {
      throw FileError(
        kind: .temporary, path: parent.path.appending(name), operation: "make folder",
        reason: "somebody else made it at the same moment")
    }
    self.folder = folder
    self.parent = parent
    self.name = name
    path = folder.path
  }

  /// The same at a path that the caller vouches for: links on the way are followed.
  public convenience init(at path: FilePath) throws(FileError) {
    try self.init(
      in: try HeldFolder.making(following: path.removingLastComponent()),
      name: path.lastComponent?.string ?? "")
  }

  /// Writes a whole file. `name` is relative, without `.` and `..`, and not used before; folders in it
  /// are made.
  public func write(_ bytes: [UInt8], as name: String) throws(FileError) {
    let name = try claim(name)
    try checkSpace()
    let (folder, last) = try place(for: name)
    try folder.write(bytes, as: last)
    record(name, bytes: Int64(bytes.count), digest: Digest(of: bytes))
  }

  /// Starts a file that is written piece by piece.
  public func create(_ name: String) throws(FileError) -> StagedFile {
    let name = try claim(name)
    let (file, path) = try open(name)
    return StagedFile(file, name: name, path: path, folder: self)
  }

  /// A new file that the caller writes as it likes; part of the artifact once it is closed and adopted.
  public func open(_ name: String) throws(FileError) -> (FileDescriptor, path: FilePath) {
    try checkSpace()
    let (folder, last) = try place(for: name)
    return (try folder.create(last), folder.path.appending(last))
  }

  /// How much of a file from `open` is to be written before the disk is told to begin with it.
  public static let earlyBytes = WritebackHint.pieceBytes

  /// The disk may begin to write what is in a file from `open`, so that publication need not wait for all of it.
  public static func beginWriting(_ file: FileDescriptor, from offset: Int64, bytes: Int64) {
    WritebackHint.begin(file, from: offset, bytes: bytes)
  }

  /// All files written so far, sorted by path.
  public var outputs: [OutputEntry] {
    contents.withLock { $0.entries }.sorted { $0.path < $1.path }
  }

  /// Bytes written so far.
  public var bytesWritten: Int64 { contents.withLock { $0.bytes } }

  /// Stops short of a full disk, so that what is published, the journal and everybody else still find
  /// some room.
  func checkSpace() throws(FileError) {
    let isDue = contents.withLock { contents in
      guard contents.bytes - contents.checkedBytes >= Self.bytesBetweenChecks else { return false }
      contents.checkedBytes = contents.bytes
      return true
    }
    if isDue { try FileSystem.checkSpace(for: 0, at: path) }
  }

  func isListed(_ name: String) -> Bool { contents.withLock { $0.names.contains(name) } }

  /// Takes note of a file that is there already.
  func record(_ name: String, bytes: Int64, digest: Digest) {
    contents.withLock {
      $0.entries.append(OutputEntry(path: name, bytes: bytes, sha256: digest))
      $0.bytes += bytes
    }
  }

  /// The one spelling of `name`, now taken.
  func claim(_ name: String) throws(FileError) -> String {
    func refused(_ reason: String) -> FileError {
      FileError(kind: .unpublishable, path: FilePath(name), operation: "write", reason: reason)
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

  /// The folder that `name` lies in, made where it is absent, and its name there.
  func place(for name: String) throws(FileError) -> (HeldFolder, String) {
    let components = FilePath(name).components.map(\.string)
    var folder = folder
    for component in components.dropLast() { folder = try folder.makeFolder(component) }
    return (folder, components.last ?? "")
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

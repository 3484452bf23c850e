import Synchronization
import SystemPackage

/// A file of an artifact: its path in the folder, size and digest.
public struct OutputEntry: Hashable, Sendable, Codable {
  /// Relative to the artifact's folder, with `/` as separator.
  public var path: String
  public var bytes: Int64
  public var sha256: Digest

  public init(path: String, bytes: Int64, sha256: Digest) {
    self.path = path
    self.bytes = bytes
    self.sha256 = sha256
  }
}

/// The folder into which a stage writes before publication, and the list of its files.
///
/// It is held by descriptor: a folder that a program puts in its place is neither written to nor
/// published. Thread-safe; each file is written and digested by one thread.
public final class StagingFolder: Sendable {
  public let path: FilePath
  /// The folder itself, its parent, and its name there.
  public let folder: HeldFolder
  public let parent: HeldFolder
  public let name: String
  private let contents = Mutex(Contents())

  private struct Contents {
    var entries: [OutputEntry] = []
    /// Names that are in use, whether finished or not.
    var names: Set<String> = []
    var bytes: Int64 = 0
    /// Value of `bytes` at the last check of free space.
    var checkedBytes: Int64 = 0
  }

  /// Free space is checked each time this many bytes have been written.
  private static let bytesBetweenChecks: Int64 = 32 << 20

  /// The only name that a stage may not use: the engine's own record, which is written last.
  static let reservedName = "artifact.json"

  /// Creates an empty folder `name` in `parent`. Removes what was there.
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

  /// Makes the folder at a path, whose links are followed.
  public convenience init(at path: FilePath) throws(FileError) {
    try self.init(
      in: try HeldFolder.making(following: path.removingLastComponent()),
      name: path.lastComponent?.string ?? "")
  }

  /// Writes a whole file. `name` is relative, without `.` and `..`, and unused; its folders are
  /// created.
  public func write(_ bytes: [UInt8], as name: String) throws(FileError) {
    let name = try claim(name)
    try checkSpace()
    let (folder, last) = try place(for: name)
    try folder.write(bytes, as: last)
    record(name, bytes: Int64(bytes.count), digest: Digest(of: bytes))
  }

  /// Creates a file that is written in pieces.
  public func create(_ name: String) throws(FileError) -> StagedFile {
    let name = try claim(name)
    let (file, path) = try open(name)
    return StagedFile(file, name: name, path: path, folder: self)
  }

  /// Creates a file that the caller writes directly. It becomes part of the artifact when it is
  /// adopted after closing.
  public func open(_ name: String) throws(FileError) -> (FileDescriptor, path: FilePath) {
    try checkSpace()
    let (folder, last) = try place(for: name)
    return (try folder.create(last), folder.path.appending(last))
  }

  /// Number of written bytes of a file from `open` after which write-back should be started.
  public static let earlyBytes = WritebackHint.pieceBytes

  /// Starts write-back of a file from `open`, so that publication need not wait for all of it.
  public static func beginWriting(_ file: FileDescriptor, from offset: Int64, bytes: Int64) {
    WritebackHint.begin(file, from: offset, bytes: bytes)
  }

  /// All files of the artifact so far, sorted by path.
  public var outputs: [OutputEntry] {
    contents.withLock { $0.entries }.sorted { $0.path < $1.path }
  }

  /// Total size of these files.
  public var bytesWritten: Int64 { contents.withLock { $0.bytes } }

  /// Throws before the disk is completely full, so that publication, the journal and other programs
  /// still have space.
  func checkSpace() throws(FileError) {
    let isDue = contents.withLock { contents in
      guard contents.bytes - contents.checkedBytes >= Self.bytesBetweenChecks else { return false }
      contents.checkedBytes = contents.bytes
      return true
    }
    if isDue { try FileSystem.checkSpace(for: 0, at: path) }
  }

  func isListed(_ name: String) -> Bool { contents.withLock { $0.names.contains(name) } }

  /// Adds an existing file to the list.
  func record(_ name: String, bytes: Int64, digest: Digest) {
    contents.withLock {
      $0.entries.append(OutputEntry(path: name, bytes: bytes, sha256: digest))
      $0.bytes += bytes
    }
  }

  /// The normalized form of `name`, which is then in use. Throws if the name is invalid or in use.
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

  /// The folder of `name`, created if it does not exist, and the last component.
  func place(for name: String) throws(FileError) -> (HeldFolder, String) {
    let components = FilePath(name).components.map(\.string)
    var folder = folder
    for component in components.dropLast() { folder = try folder.makeFolder(component) }
    return (folder, components.last ?? "")
  }
}

extension [OutputEntry] {
  /// One digest over names, sizes and contents, which dependents compare.
  public var digest: Digest {
    Digest(
      of: sorted { $0.path < $1.path }
        .map { "\($0.path)\0\($0.bytes)\0\($0.sha256)\n" }.joined())
  }
}

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
  private let entries = Mutex<[OutputEntry]>([])
  private let written = Mutex<Int64>(0)

  /// Makes an empty folder at `path`, removing what was there.
  public init(at path: FilePath) throws(FileError) {
    try FileSystem.remove(path)
    try FileSystem.makeFolder(path)
    self.path = path
  }

  /// Writes a whole file. `name` is relative, without `..`; folders in it are made.
  public func write(_ bytes: [UInt8], as name: String) throws(FileError) {
    let file = try place(for: name)
    try OutputFile.write(bytes, to: file)
    record(name, bytes: Int64(bytes.count), digest: Digest(of: bytes))
  }

  /// Starts a file that is written piece by piece.
  public func create(_ name: String) throws(FileError) -> StagedFile {
    try StagedFile(name: name, path: place(for: name), folder: self)
  }

  /// Takes note of a file that someone else wrote into the folder (an external program): digests it.
  public func adopt(_ name: String) throws(FileError) {
    let file = path.appending(name)
    record(
      name, bytes: try FileIdentity(of: file).bytes, digest: try Digest(ofFileAt: file))
  }

  /// All files written so far, sorted by path.
  public var outputs: [OutputEntry] { entries.withLock { $0 }.sorted { $0.path < $1.path } }

  /// Bytes written so far.
  public var bytesWritten: Int64 { written.withLock { $0 } }

  func record(_ name: String, bytes: Int64, digest: Digest) {
    entries.withLock { $0.append(OutputEntry(path: name, bytes: bytes, sha256: digest)) }
    written.withLock { $0 += bytes }
  }

  private func place(for name: String) throws(FileError) -> FilePath {
    let relative = FilePath(name)
    guard relative.isRelative, !relative.components.contains(where: { $0.kind != .regular }) else {
      throw FileError(
        kind: .other, path: relative, operation: "write", reason: "leads out of the artifact")
    }
    let file = path.appending(relative.components)
    if relative.components.count > 1 { try FileSystem.makeFolder(file.removingLastComponent()) }
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

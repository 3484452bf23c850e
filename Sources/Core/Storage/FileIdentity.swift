import SystemPackage

/// The values that reveal a change of a file without reading it: size, modification time, inode,
/// device.
public struct FileIdentity: Hashable, Sendable, Codable {
  public var bytes: Int64
  var modifiedNanoseconds: Int64
  var inode: UInt64
  var device: UInt64

  /// Follows symbolic links as far as `EnclosedPaths` allows. Throws unless the target is a regular
  /// file.
  public init(of path: FilePath) throws(FileError) {
    try self.init(path) { () throws(Errno) in try FileStatus(of: path) }
  }

  init(_ file: FileDescriptor, path: FilePath) throws(FileError) {
    try self.init(path) { () throws(Errno) in try FileStatus(file) }
  }

  private init(
    _ path: FilePath, _ look: () throws(Errno) -> FileStatus
  ) throws(FileError) {
    let found: FileStatus
    do throws(Errno) {
      found = try look()
    } catch {
      throw FileError(error, path: path, operation: "look at")
    }
    guard found.kind == .file else {
      throw FileError(
        kind: .other, path: path, operation: "look at", reason: "not a regular file")
    }
    bytes = found.bytes
    modifiedNanoseconds = found.modifiedNanoseconds
    inode = found.inode
    device = found.device
  }
}

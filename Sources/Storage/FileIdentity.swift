import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// What tells a file from a changed one without reading it: size, modification time, inode, device.
public struct FileIdentity: Hashable, Sendable, Codable {
  public var bytes: Int64
  public var modifiedNanoseconds: Int64
  public var inode: UInt64
  public var device: UInt64

  /// Follows symbolic links as far as `EnclosedPaths` allows. Only regular files have an identity.
  public init(of path: FilePath) throws(FileError) {
    var status = stat()
    guard EnclosedPaths.look(path, &status) == 0 else {
      throw FileError(Errno(rawValue: errno), path: path, operation: "look at")
    }
    try self.init(status, path: path)
  }

  init(_ file: FileDescriptor, path: FilePath) throws(FileError) {
    var status = stat()
    guard fstat(file.rawValue, &status) == 0 else {
      throw FileError(Errno(rawValue: errno), path: path, operation: "look at")
    }
    try self.init(status, path: path)
  }

  private init(_ status: stat, path: FilePath) throws(FileError) {
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw FileError(
        kind: .other, path: path, operation: "look at", reason: "not a regular file")
    }
    bytes = Int64(status.st_size)
    modifiedNanoseconds =
      Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
    inode = UInt64(status.st_ino)
    device = UInt64(status.st_dev)
  }
}

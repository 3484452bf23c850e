import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Which folder it is, whatever its path: the file system that it lies on, and its number there. For
/// comparisons within one process only: a file system that is mounted again has another number.
public struct FileID: Hashable, Sendable {
  public var device: UInt64
  public var inode: UInt64

  public init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }

  /// Follows links; `nil` where no folder is. Cost: one system call.
  public init?(ofFolder folder: FilePath) {
    var status = stat()
    guard folder.withPlatformString({ stat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFDIR
    else { return nil }
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }

  /// Of the nearest folder above a path that is gone; `nil` where there is none.
  public static func nearest(above path: FilePath) -> FileID? {
    var folder = path
    while folder.removeLastComponent() {
      if let found = FileID(ofFolder: folder) { return found }
    }
    return nil
  }
}

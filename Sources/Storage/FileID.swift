import SystemPackage

/// Which file or folder it is, whatever its path: the file system that it lies on, and its number there. For
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
    guard let found = try? FileStatus(followingAllLinksOf: folder), found.kind == .folder else {
      return nil
    }
    self = found.id
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

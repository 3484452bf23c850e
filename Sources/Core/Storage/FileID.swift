import SystemPackage

/// Identifies a file or folder regardless of its path, by file system and inode number. Valid
/// within one process only, because a file system gets another number when it is mounted again.
public struct FileID: Hashable, Sendable {
  public var device: UInt64
  public var inode: UInt64

  public init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }

  /// Follows links; `nil` if the target is not a folder. Cost: one system call.
  public init?(ofFolder folder: FilePath) {
    guard let found = try? FileStatus(followingAllLinksOf: folder), found.kind == .folder else {
      return nil
    }
    self = found.id
  }

  /// Follows links; `nil` if the target is not a regular file. Cost: one system call.
  public init?(ofFile file: FilePath) {
    guard let found = try? FileStatus(followingAllLinksOf: file), found.kind == .file else {
      return nil
    }
    self = found.id
  }

  /// The ID of the nearest existing folder above `path`; `nil` if there is none.
  public static func nearest(above path: FilePath) -> FileID? {
    var folder = path
    while folder.removeLastComponent() {
      if let found = FileID(ofFolder: folder) { return found }
    }
    return nil
  }
}

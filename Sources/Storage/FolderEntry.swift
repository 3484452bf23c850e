#if canImport(Glibc)
  import Glibc
#endif

/// What a name in a folder is by itself: a link is a link, whatever it leads to.
public struct FolderEntry: Hashable, Sendable {
  public enum Kind: Sendable {
    case file, folder, link, other
  }

  public var kind: Kind
  public var bytes: Int64
  public var modifiedNanoseconds: Int64
  public var inode: UInt64
  public var device: UInt64
  /// Names that the file has.
  public var links: UInt64

  init(_ status: stat) {
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      case S_IFLNK: .link
      default: .other
      }
    bytes = Int64(status.st_size)
    modifiedNanoseconds =
      Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
    inode = UInt64(status.st_ino)
    device = UInt64(status.st_dev)
    links = UInt64(status.st_nlink)
  }

  /// Whether both are names of one and the same thing.
  func isSame(as other: FolderEntry) -> Bool { inode == other.inode && device == other.device }

  /// In words: "is a symbolic link".
  var phrase: String {
    switch kind {
    case .file: "is a file"
    case .folder: "is a folder"
    case .link: "is a symbolic link"
    case .other: "is neither a file nor a folder"
    }
  }
}

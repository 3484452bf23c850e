#if canImport(Glibc)
  import Glibc
#endif

/// What tells an entry of a folder, whatever it is, from a changed one: of a folder also that a name in it
/// was added, removed or replaced. Without the number of the device, as `FileStamp`.
public struct EntryStamp: Hashable, Sendable {
  public var bytes: Int64
  public var modifiedNanoseconds: Int64
  public var changedNanoseconds: Int64
  public var inode: UInt64
  public var mode: UInt32
}

extension OpenFolder {
  /// The stamp of `path`, relative to this folder; a link is looked at by itself. `nil` when there is nothing.
  public func entryStamp(of path: String) -> EntryStamp? {
    var status = stat()
    let found = PathText.withCString(path) { name in
      withDescriptor { fstatat($0, name, &status, AT_SYMLINK_NOFOLLOW) }
    }
    guard found == 0 else { return nil }
    return EntryStamp(
      bytes: Int64(status.st_size), modifiedNanoseconds: Self.nanoseconds(status.st_mtim),
      changedNanoseconds: Self.nanoseconds(status.st_ctim), inode: UInt64(status.st_ino),
      mode: UInt32(status.st_mode))
  }

  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}

import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// What tells a file from a changed one for those who remember something about its content: inode, size
/// and the time of the last change of any kind, which nobody can set back.
///
/// Stricter than `FileIdentity`: a new mode, name or link shows as well, and costs another look inside.
/// Without the number of the device, unlike that: stamps are stored, and a file system that several
/// machines share, or that is mounted again, has another number each time.
public struct FileStamp: Hashable, Sendable, Codable {
  public var bytes: Int64
  public var modifiedNanoseconds: Int64
  public var changedNanoseconds: Int64
  public var inode: UInt64

  public init(
    bytes: Int64, modifiedNanoseconds: Int64, changedNanoseconds: Int64, inode: UInt64
  ) {
    self.bytes = bytes
    self.modifiedNanoseconds = modifiedNanoseconds
    self.changedNanoseconds = changedNanoseconds
    self.inode = inode
  }

  /// Follows symbolic links as far as `EnclosedPaths` allows; `nil` when there is no regular file.
  public init?(of path: FilePath) {
    self.init(of: path.text)
  }

  /// The same of a path as `PathText` carries it.
  public init?(of path: String) {
    guard let found = (try? EnclosedPaths.status(of: path))?.fileStamp else { return nil }
    self = found
  }

  /// Whether the file had been still for two seconds at `nowNanoseconds` (since 1970): no later write
  /// can fall on the same tick of the file system's clock unseen. The time of the last change decides, which
  /// every write moves; that of the last modification may be any, also one to come.
  public func isSettled(nowNanoseconds: Int64) -> Bool {
    let (age, overflow) = nowNanoseconds.subtractingReportingOverflow(changedNanoseconds)
    return !overflow && age > 2_000_000_000
  }

  /// The time now, as files are stamped with.
  public static func nowNanoseconds() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return FileStatus.nanoseconds(now)
  }
}

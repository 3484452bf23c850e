import SystemPackage
import Glibc

/// The values that reveal a change of a file whose content is cached: inode, size, modification
/// time, and the time of the last change of any kind, which cannot be set.
///
/// Stricter than `FileIdentity`: a new mode, name or link also changes it, and the content is then
/// read again. It has no device number, because stamps are stored and the number differs between
/// machines and mounts.
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

  /// Follows symbolic links as far as `EnclosedPaths` allows; `nil` unless the target is a regular
  /// file.
  public init?(of path: FilePath) {
    self.init(of: path.text)
  }

  /// The stamp of a path as text (`PathText`).
  public init?(of path: String) {
    guard let found = (try? EnclosedPaths.status(of: path))?.fileStamp else { return nil }
    self = found
  }

  /// Whether the last change was more than two seconds before `nowNanoseconds` (since 1970). A
  /// later write then cannot have the same time in the file system's resolution. Uses the change
  /// time, which every write updates; the modification time can be set to any value, even in the
  /// future.
  public func isSettled(nowNanoseconds: Int64) -> Bool {
    let (age, overflow) = nowNanoseconds.subtractingReportingOverflow(changedNanoseconds)
    return !overflow && age > 2_000_000_000
  }

  /// The current time on the clock of file times.
  public static func nowNanoseconds() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return FileStatus.nanoseconds(now)
  }
}

import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Total and free space of a file system. Values are limited to `Int64.max`.
public struct FileSystemSpace: Hashable, Sendable {
  /// Available to this user: without the space reserved for root.
  public let freeBytes: Int64
  public let totalBytes: Int64
  /// How many more files can be created; `nil` if the file system does not limit the number.
  public let freeFiles: Int64?
  public let totalFiles: Int64?

  /// The file system of `path`. Cost: one system call.
  public init(at path: FilePath) throws(Errno) {
    var status = statvfs()
    guard path.withPlatformString({ statvfs($0, &status) }) == 0 else {
      throw Errno(rawValue: errno)
    }
    let unit = UInt64(status.f_frsize)
    func bytes(_ blocks: UInt) -> Int64 {
      let (product, overflow) = UInt64(blocks).multipliedReportingOverflow(by: unit)
      return overflow ? .max : Int64(clamping: product)
    }
    freeBytes = bytes(status.f_bavail)
    totalBytes = bytes(status.f_blocks)
    let countsFiles = status.f_files != 0
    freeFiles = countsFiles ? Int64(clamping: status.f_favail) : nil
    totalFiles = countsFiles ? Int64(clamping: status.f_files) : nil
  }
}

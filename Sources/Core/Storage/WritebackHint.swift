import CPlatform
import SystemPackage

/// Hints that make writing artifacts cheaper for the kernel. Results do not depend on them; file
/// systems may ignore them.
enum WritebackHint {
  /// For smaller files the hints cost as many system calls as they save.
  static let leastBytes = 64 << 10
  /// Write-back of a long file is started after this many bytes.
  static let pieceBytes: Int64 = 8 << 20

  /// Announces that `bytes` bytes will be written to the new, empty `file` at once.
  static func expect(_ bytes: Int, in file: FileDescriptor) {
    if bytes >= leastBytes { scanmill_expect_bytes(file.rawValue, Int64(bytes)) }
  }

  /// Starts write-back of `file` from `offset` on. Measured with 200 files of 1.5 MB: the final
  /// flush, during which no core works, takes a fiftieth of the time.
  static func begin(_ file: FileDescriptor, from offset: Int64 = 0, bytes: Int64) {
    scanmill_start_writing_back(file.rawValue, offset, bytes)
  }
}

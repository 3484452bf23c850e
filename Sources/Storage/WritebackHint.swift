import CPlatform
import SystemPackage

/// What makes writing artifacts cheaper for the kernel. Nothing depends on it: where a file system knows no such
/// thing, files are the same.
enum WritebackHint {
  /// Smaller files cost as many system calls as they save.
  static let leastBytes = 64 << 10
  /// How much of a long file is written before the disk begins with it.
  static let pieceBytes: Int64 = 8 << 20

  /// `file`, new and empty, is about to get so many bytes in one piece.
  static func expect(_ bytes: Int, in file: FileDescriptor) {
    if bytes >= leastBytes { scanmill_expect_bytes(file.rawValue, Int64(bytes)) }
  }

  /// The disk may begin to write what is in `file` from `offset` on. Measured with 200 files of 1.5 MB: the flush
  /// at the end, during which no core works, takes a fiftieth of the time.
  static func begin(_ file: FileDescriptor, from offset: Int64 = 0, bytes: Int64) {
    scanmill_start_writing_back(file.rawValue, offset, bytes)
  }
}

import CZstd

/// Zstandard frames.
public enum Zstandard {
  /// zstd's own default: about 300 MB/s.
  public static let usualLevel = 3

  /// One frame with the length of its content in the head; the same bytes for the same input and library.
  /// `nil` without memory.
  public static func encode(_ bytes: [UInt8], level: Int = usualLevel) -> [UInt8]? {
    let bound = ZSTD_compressBound(bytes.count)
    var count = 0
    let frame = [UInt8](unsafeUninitializedCapacity: bound) { frame, initialized in
      count = bytes.withUnsafeBytes {
        ZSTD_compress(frame.baseAddress, bound, $0.baseAddress, $0.count, Int32(level))
      }
      initialized = ZSTD_isError(count) == 0 ? count : 0
    }
    return ZSTD_isError(count) == 0 ? frame : nil
  }
}

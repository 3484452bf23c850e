import CZstd

/// Writes Zstandard frames.
public enum Zstandard {
  /// The default level of zstd: about 300 MB/s.
  public static let usualLevel = 3

  /// Encodes one frame with the content length in its header. The output depends only on the input
  /// and the version of the library. `nil` when out of memory.
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

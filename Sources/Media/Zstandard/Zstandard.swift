import CZstd

/// Writes Zstandard frames.
public enum Zstandard {
  /// The default of zstd: about 300 MB/s.
  private static let usualLevel: Int32 = 3

  /// Encodes one frame with the content length in its header. The output depends only on the input
  /// and the version of the library. `nil` when out of memory.
  public static func encode(_ bytes: [UInt8]) -> [UInt8]? {
    let bound = ZSTD_compressBound(bytes.count)
    var count = 0
    let frame = [UInt8](unsafeUninitializedCapacity: bound) { frame, initialized in
      count = bytes.withUnsafeBytes {
        ZSTD_compress(frame.baseAddress, bound, $0.baseAddress, $0.count, usualLevel)
      }
      initialized = ZSTD_isError(count) == 0 ? count : 0
    }
    return ZSTD_isError(count) == 0 ? frame : nil
  }
}

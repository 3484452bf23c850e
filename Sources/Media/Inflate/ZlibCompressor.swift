import CDeflate

/// Compresses whole buffers to zlib streams (RFC 1950) with libdeflate; one per worker.
public struct ZlibCompressor: ~Copyable {
  private let compressor: OpaquePointer

  /// `level` is 1 (fastest) … 12 (smallest), as in libdeflate; other values mean 6. Throws when out
  /// of memory.
  public init(level: Int = 6) throws(DeflateError) {
    let level = (1...12).contains(level) ? Int32(level) : 6
    guard let compressor = libdeflate_alloc_compressor(level) else { throw DeflateError() }
    self.compressor = compressor
  }

  deinit {
    libdeflate_free_compressor(compressor)
  }

  /// Appends one stream of all of `bytes` to `output`. The output depends only on the bytes and the
  /// version of the library.
  public mutating func append(_ bytes: RawSpan, to output: inout [UInt8]) throws(DeflateError) {
    let bound = libdeflate_zlib_compress_bound(compressor, bytes.byteCount)
    let start = output.count
    output.append(contentsOf: repeatElement(0, count: bound))
    let count = bytes.withUnsafeBytes { input in
      output.withUnsafeMutableBytes { output in
        libdeflate_zlib_compress(
          compressor, input.baseAddress, input.count, output.baseAddress.map { $0 + start }, bound)
      }
    }
    output.removeLast(bound - count)
    // Cannot fail: `bound` suffices for every input.
    guard count > 0 else { throw DeflateError() }
  }
}

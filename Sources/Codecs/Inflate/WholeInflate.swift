import CDeflate

/// Inflation of a buffer that is there as a whole, two to three times as fast as a stream.
public enum WholeInflate {
  /// What a successful call did.
  public struct Result: Equatable, Sendable {
    /// Bytes written from the start of the output.
    public var produced: Int
    /// Bytes of the input up to the end of the stream. A record that must end with its stream has
    /// `consumed` equal to its length.
    public var consumed: Int
  }

  /// Why nothing came out. The output holds no meaning then.
  public enum Failure: Error, Equatable, Sendable {
    /// Not DEFLATE, damaged, cut, or a checksum that does not fit.
    case notDeflate
    /// More would come out than the output holds.
    case outputTooSmall
    case noMemory
  }

  /// Inflates the stream at the start of `input` into `output`, which bounds the size whatever the
  /// stream claims. May be called from many threads; each call takes about 12 KiB for its tables.
  public static func inflate(
    _ input: RawSpan, format: DeflateFormat, into output: inout MutableRawSpan
  ) throws(Failure) -> Result {
    guard let decompressor = libdeflate_alloc_decompressor() else { throw .noMemory }
    defer { libdeflate_free_decompressor(decompressor) }
    var consumed = 0
    var produced = 0
    let status = input.withUnsafeBytes { input in
      output.withUnsafeMutableBytes { output in
        let run =
          switch format {
          case .raw: libdeflate_deflate_decompress_ex
          case .zlib: libdeflate_zlib_decompress_ex
          case .gzip: libdeflate_gzip_decompress_ex
          }
        return run(
          decompressor, input.baseAddress, input.count, output.baseAddress, output.count,
          &consumed, &produced)
      }
    }
    switch status {
    case LIBDEFLATE_SUCCESS: return Result(produced: produced, consumed: consumed)
    case LIBDEFLATE_INSUFFICIENT_SPACE: throw .outputTooSmall
    default: throw .notDeflate
    }
  }
}

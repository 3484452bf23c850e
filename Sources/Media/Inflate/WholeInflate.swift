import CDeflate

/// Inflates a buffer that is completely in memory, two to three times as fast as a stream.
public enum WholeInflate {
  /// The outcome of a successful call.
  public struct Result: Equatable, Sendable {
    /// Number of bytes written from the start of the output.
    public var produced: Int
    /// Number of input bytes up to the end of the stream. If a record must end with its stream,
    /// this must equal the record's length.
    public var consumed: Int
  }

  /// Why inflation failed. The content of the output is then undefined.
  public enum Failure: Error, Equatable, Sendable {
    /// The bytes are not DEFLATE, damaged or cut, or their checksum is another one.
    case notDeflate
    /// The output is too small for the data.
    case outputTooSmall
    case noMemory
  }

  /// Inflates the stream at the start of `input` into `output`, whose size is the limit whatever
  /// the stream claims. May be called from many threads; each call uses about 12 KiB for its
  /// tables.
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

/// The wrapper around DEFLATE data (RFC 1951).
public enum DeflateFormat: Sendable, Hashable {
  /// No header, no checksum.
  case raw
  /// RFC 1950: two bytes before, Adler-32 after.
  case zlib
  /// RFC 1952: a header before, CRC-32 and size after.
  case gzip

  /// zlib's `windowBits`: 15 for the full 32 KiB window, negative for raw, 16 more for gzip.
  var windowBits: Int32 {
    switch self {
    case .raw: -15
    case .zlib: 15
    case .gzip: 31
    }
  }
}

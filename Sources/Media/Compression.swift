import CDeflate
import CLZ4
import CZlib
import CZstd

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
  public enum Failure: Error, Equatable {
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

/// Writes one DEFLATE stream incrementally; for synthetic captures, not tuned for speed.
public final class DeflateEncoder {
  // On the heap: zlib keeps the address of this structure and compares it on every call.
  private let stream: UnsafeMutablePointer<z_stream>
  private let isReady: Bool

  /// `level` is 0…9 as in zlib; other values mean zlib's default.
  public init(format: DeflateFormat, level: Int = 6) {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    let level = (0...9).contains(level) ? Int32(level) : Z_DEFAULT_COMPRESSION
    // 8 is zlib's default for the memory level.
    isReady =
      scanmill_deflateInit2(stream, level, format.windowBits, 8, Z_DEFAULT_STRATEGY) == Z_OK
  }

  deinit {
    deflateEnd(stream)
    stream.deinitialize(count: 1)
    stream.deallocate()
  }

  /// Compresses `bytes` and appends available output to `output`.
  public func append(_ bytes: RawSpan, to output: inout [UInt8]) throws(DeflateError) {
    try run(bytes, flush: Z_NO_FLUSH, to: &output)
  }

  /// Ends the stream. Nothing may be appended afterward.
  public func finish(to output: inout [UInt8]) throws(DeflateError) {
    try run(RawSpan(), flush: Z_FINISH, to: &output)
  }

  /// Compresses `bytes` to a whole stream.
  public static func compress(
    _ bytes: [UInt8], format: DeflateFormat, level: Int = 6
  ) throws(DeflateError) -> [UInt8] {
    let encoder = DeflateEncoder(format: format, level: level)
    var output: [UInt8] = []
    try encoder.append(bytes.span.bytes, to: &output)
    try encoder.finish(to: &output)
    return output
  }

  private func run(
    _ bytes: RawSpan, flush: Int32, to output: inout [UInt8]
  ) throws(DeflateError) {
    guard isReady else { throw DeflateError() }
    var piece = [UInt8](repeating: 0, count: 65_536)
    var offset = 0
    while true {
      // avail_in has 32 bits.
      let window = bytes.extracting(offset..<min(bytes.byteCount, offset + 1 << 30))
      let (status, consumed, produced) = window.withUnsafeBytes { input in
        piece.withUnsafeMutableBufferPointer { piece in
          // zlib does not write through next_in; the type merely lacks `const`.
          stream.pointee.next_in = UnsafeMutablePointer(
            mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
          stream.pointee.avail_in = UInt32(input.count)
          stream.pointee.next_out = piece.baseAddress
          stream.pointee.avail_out = UInt32(piece.count)
          let status = deflate(stream, flush)
          let consumed = input.count - Int(stream.pointee.avail_in)
          return (status, consumed, piece.count - Int(stream.pointee.avail_out))
        }
      }
      guard status >= Z_OK || status == Z_BUF_ERROR else { throw DeflateError() }
      output.append(contentsOf: piece[..<produced])
      offset += consumed
      if offset == bytes.byteCount, produced < piece.count { return }
    }
  }
}

/// zlib had no memory, or the stream was used after its end.
public struct DeflateError: Error {}

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

/// The CRC-32 of zlib, PNG and MCAP, computed incrementally (libdeflate).
public struct CRC32: Hashable, Sendable {
  /// Checksum of all bytes so far; 0 for no bytes.
  public private(set) var value: UInt32 = 0

  public init() {}

  /// Cost: about a tenth of copying the bytes.
  public mutating func update(_ bytes: [UInt8]) {
    value = bytes.withUnsafeBytes { libdeflate_crc32(value, $0.baseAddress, $0.count) }
  }
}

/// Frames of general compressors, each with the content length in its header. A frame depends only on the input and the
/// version of the library; `nil` when out of memory.
public enum CompressedFrame {
  /// The default of zstd: about 300 MB/s.
  private static let usualLevel: Int32 = 3

  /// A Zstandard frame.
  public static func zstd(_ bytes: [UInt8]) -> [UInt8]? {
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

  /// A frame that the `lz4` program and readers of MCAP accept. Speed: about 500 MB/s.
  public static func lz4(_ bytes: [UInt8]) -> [UInt8]? {
    var preferences = LZ4F_preferences_t()
    preferences.frameInfo.contentSize = UInt64(bytes.count)
    preferences.frameInfo.blockSizeID = LZ4F_max4MB
    let bound = LZ4F_compressFrameBound(bytes.count, &preferences)
    var count = 0
    let frame = [UInt8](unsafeUninitializedCapacity: bound) { frame, initialized in
      count = bytes.withUnsafeBytes {
        LZ4F_compressFrame(frame.baseAddress, bound, $0.baseAddress, $0.count, &preferences)
      }
      initialized = LZ4F_isError(count) == 0 ? count : 0
    }
    return LZ4F_isError(count) == 0 ? frame : nil
  }
}

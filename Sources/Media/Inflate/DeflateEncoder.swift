import CZlib

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
public struct DeflateError: Error, Sendable {}

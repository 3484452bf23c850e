import Media
import Core

/// The encoding of a record in a framed file.
enum ARKitScannerRecordKind: String, Sendable {
  /// A bare LZ4 block of uint16 millimeters.
  case lz4 = "lz4-u16"
  /// A raw DEFLATE stream of float32 meters.
  case deflate = "deflate-f32"
}

/// Decodes single records. Memory is limited by the picture's size, never by a length in the file.
struct ARKitScannerRecordDecoder: Sendable {
  let size: PictureSize
  private let scratch = ScratchBuffers()

  /// The most bytes that one byte of a record can expand to: a match length of LZ4 continues with
  /// bytes of up to 255; DEFLATE repeats up to 258 bytes for two bits.
  private static let lz4Expansion = 255
  private static let deflateExpansion = 1032

  enum Result {
    case picture(ARKitScannerRecordKind, ARKitScannerFloatDepth.Finding)
    /// Neither encoding fits; the text says how both failed.
    case corrupt(String)
  }

  /// Tries LZ4, then DEFLATE.
  func decode(_ payload: RawSpan, into pixels: inout [UInt16]) -> Result {
    let (lz4Failure, isDecoded) = decodeLZ4(payload, into: &pixels)
    if isDecoded { return .picture(.lz4, ARKitScannerFloatDepth.Finding()) }
    let deflateFailure: String
    switch decodeDeflate(payload, into: &pixels) {
    case .corrupt(let text): deflateFailure = text
    case let picture: return picture
    }
    if let magic = otherFraming(payload) {
      return .corrupt(
        "starts with \"\(magic)\": Apple's other LZ4 framing, not a bare block")
    }
    return .corrupt("neither LZ4 (\(lz4Failure)) nor DEFLATE (\(deflateFailure))")
  }

  private func decodeLZ4(
    _ payload: RawSpan, into pixels: inout [UInt16]
  ) -> (failure: String, isDecoded: Bool) {
    guard size.pixels * 2 <= payload.byteCount * Self.lz4Expansion else {
      return ("too short", false)
    }
    if pixels.count != size.pixels { pixels = [UInt16](repeating: 0, count: size.pixels) }
    var span = pixels.mutableSpan
    var bytes = span.mutableBytes
    do throws(LZ4Block.Failure) {
      try LZ4Block.decode(payload, into: &bytes)
      return ("", true)
    } catch {
      switch error {
      case .invalid(let offset): return ("damaged at its byte \(offset)", false)
      case .tooLong: return ("more than a picture", false)
      case .short(let produced):
        return ("only \(produced) of \(size.pixels * 2) bytes", false)
      }
    }
  }

  private func decodeDeflate(
    _ payload: RawSpan, into pixels: inout [UInt16]
  ) -> Result {
    let byteCount = size.floatBytes
    guard byteCount <= payload.byteCount * Self.deflateExpansion else {
      return .corrupt("too short")
    }
    return scratch.withBuffer(byteCount: byteCount) { buffer in
      var span = buffer.mutableSpan
      var output = span.mutableBytes
      do throws(WholeInflate.Failure) {
        let result = try WholeInflate.inflate(payload, format: .raw, into: &output)
        guard result.produced == byteCount else {
          return .corrupt("only \(result.produced) of \(byteCount) bytes")
        }
        guard result.consumed == payload.byteCount else {
          return .corrupt("its stream ends before the record")
        }
      } catch {
        return .corrupt(error == .outputTooSmall ? "more than a picture" : "damaged")
      }
      return .picture(
        .deflate, ARKitScannerFloatDepth.convert(buffer.span.bytes, into: &pixels))
    }
  }

  private func otherFraming(_ payload: RawSpan) -> String? {
    guard let start = payload.littleEndian(UInt32.self, at: 0) else { return nil }
    let magic = withUnsafeBytes(of: start.littleEndian) { String(decoding: $0, as: UTF8.self) }
    return ["bv41", "bv4-"].contains(magic) ? magic : nil
  }
}

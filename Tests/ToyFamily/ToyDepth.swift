import Captures
import Core

/// Frames of 16-bit millimeters, little-endian, back to back.
struct ToyDepth: IndexedFrameSource {
  let file: MappedFile
  let pixels: Int

  var recordCount: Int { pixels > 0 ? file.count / (2 * pixels) : 0 }

  func decode(record: Int, into pixels: inout [UInt16]) throws -> RecordOutcome {
    let bytes = 2 * self.pixels
    pixels = file.withBytes(in: record * bytes..<(record + 1) * bytes) { span in
      span.withUnsafeBytes { raw in
        stride(from: 0, to: bytes, by: 2).map { UInt16(raw[$0]) | UInt16(raw[$0 + 1]) << 8 }
      }
    }
    return .picture
  }
}

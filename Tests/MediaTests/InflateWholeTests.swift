@testable import Media
import Testing

@Suite("DEFLATE of a whole buffer")
struct InflateWholeTests {
  static let formats: [DeflateFormat] = [.raw, .zlib, .gzip]

  private func inflate(
    _ packed: [UInt8], _ format: DeflateFormat, room: Int
  ) throws -> (WholeInflate.Result, [UInt8]) {
    var output = [UInt8](repeating: 0xAA, count: room)
    var span = output.mutableSpan
    var bytes = span.mutableBytes
    let result = try WholeInflate.inflate(packed.span.bytes, format: format, into: &bytes)
    return (result, output)
  }

  @Test("What was compressed comes out, with the bytes used", arguments: formats)
  func roundTrip(format: DeflateFormat) throws {
    let bytes = inflateSample(count: 50_000)
    let packed = try DeflateEncoder.compress(bytes, format: format)
    let (exact, output) = try inflate(packed, format, room: bytes.count)
    #expect(exact == .init(produced: bytes.count, consumed: packed.count))
    #expect(output == bytes)
    let (padded, _) = try inflate(packed + [1, 2, 3], format, room: bytes.count + 100)
    #expect(padded == .init(produced: bytes.count, consumed: packed.count))
  }

  @Test("The caller's size bounds the output")
  func tooSmall() throws {
    let packed = try DeflateEncoder.compress(inflateSample(count: 1000), format: .raw)
    #expect(throws: WholeInflate.Failure.outputTooSmall) { try inflate(packed, .raw, room: 999) }
    #expect(throws: WholeInflate.Failure.outputTooSmall) { try inflate(packed, .raw, room: 0) }
  }

  @Test("Cut anywhere, it is not DEFLATE", arguments: formats)
  func everyTruncation(format: DeflateFormat) throws {
    let packed = try DeflateEncoder.compress(inflateSample(count: 1000), format: format)
    for cut in 0..<packed.count {
      #expect(throws: WholeInflate.Failure.notDeflate) {
        try inflate(Array(packed[..<cut]), format, room: 2000)
      }
    }
  }

  @Test("A stream that ends early in its record says where")
  func emptyStream() throws {
    // A complete, empty stream: final block, fixed codes, end of block.
    let (result, _) = try inflate([0x03, 0x00, 0x55, 0x55], .raw, room: 10)
    #expect(result == .init(produced: 0, consumed: 2))
  }
}

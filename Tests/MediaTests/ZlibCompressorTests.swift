@testable import Media
import Testing

@Suite("Whole buffers as zlib streams")
struct ZlibCompressorTests {
  @Test("What is packed comes back, at every level, behind what the output holds already")
  func roundTrip() throws {
    for bytes in [[], [7], (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 5) }] {
      for level in [-1, 1, 4, 6, 9, 12, 99] {
        var compressor = try ZlibCompressor(level: level)
        var output: [UInt8] = [1, 2]
        try compressor.append(bytes.span.bytes, to: &output)
        #expect(Array(output.prefix(2)) == [1, 2])
        var inflated = [UInt8](repeating: 0, count: bytes.count + 1)
        var span = inflated.mutableSpan
        var raw = span.mutableBytes
        let result = try WholeInflate.inflate(
          Array(output.dropFirst(2)).span.bytes, format: .zlib, into: &raw)
        #expect(result.produced == bytes.count)
        #expect(result.consumed == output.count - 2)
        #expect(Array(inflated.prefix(bytes.count)) == bytes)
      }
    }
  }
}

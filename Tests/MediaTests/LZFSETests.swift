@testable import Media
import TestSupport
import Testing

@Suite("LZFSE streams")
struct LZFSETests {
  private func decode(_ stream: [UInt8], count: Int) throws -> [UInt8] {
    var output = [UInt8](repeating: 0xAA, count: count)
    var span = output.mutableSpan
    var bytes = span.mutableBytes
    try LZFSE.decode(stream.span.bytes, into: &bytes)
    return output
  }

  private func isStream(_ bytes: [UInt8]) -> Bool { LZFSE.isStream(bytes.span.bytes) }

  @Test("Streams of the reference encoder, of every kind of block", arguments: LZFSESamples.all)
  func reference(_ sample: LZFSESamples.Sample) throws {
    #expect(isStream(sample.stream))
    #expect(try decode(sample.stream, count: sample.content.count) == sample.content)
  }

  @Test("Blocks of all kinds one after the other, whose matches reach into earlier blocks")
  func blocks() throws {
    let end = 4
    let stream = LZFSESamples.all.flatMap { $0.stream.dropLast(end) } + Array("bvx$".utf8)
    let content = LZFSESamples.all.flatMap(\.content)
    #expect(try decode(stream, count: content.count) == content)
    // Distance 5 from the start of its block: into the raw block before it.
    let raw = Array("bvx-".utf8) + [5, 0, 0, 0] + Array("abcde".utf8)
    let match: [UInt8] = [0x38, 0x05, 0x06, 0, 0, 0, 0, 0, 0, 0]
    let lzvn = Array("bvxn".utf8) + [10, 0, 0, 0, UInt8(match.count), 0, 0, 0] + match
    #expect(
      try decode(raw + lzvn + Array("bvx$".utf8), count: 15) == Array("abcdeabcdeabcde".utf8))
  }

  @Test("A stream of another size is refused: shorter, longer, empty", arguments: LZFSESamples.all)
  func otherSizes(_ sample: LZFSESamples.Sample) {
    for count in [0, 1, sample.content.count - 1, sample.content.count + 1, 100_000] {
      #expect(throws: LZFSEError.self) { try decode(sample.stream, count: count) }
    }
  }

  @Test("A stream cut anywhere is refused", arguments: LZFSESamples.all)
  func cut(_ sample: LZFSESamples.Sample) {
    for count in sample.stream.indices {
      #expect(throws: LZFSEError.self) {
        try decode(Array(sample.stream[..<count]), count: sample.content.count)
      }
    }
  }

  @Test("Whatever is changed in a stream, decoding ends and stays within the output")
  func mutations() {
    var random = SeededGenerator(seed: 20)
    let margin = 80
    for sample in LZFSESamples.all {
      for _ in 0..<Rounds.of(300, soak: 3000) {
        var stream = sample.stream
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          let index = Int.random(in: 0..<stream.count, using: &random)
          stream[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
        var output = [UInt8](repeating: 0xAA, count: sample.content.count + 2 * margin)
        output.withUnsafeMutableBytes { output in
          let middle = margin..<(margin + sample.content.count)
          var bytes = MutableRawSpan(
            _unsafeBytes: UnsafeMutableRawBufferPointer(rebasing: output[middle]))
          try? LZFSE.decode(stream.span.bytes, into: &bytes)
        }
        #expect(output.prefix(margin).allSatisfy { $0 == 0xAA })
        #expect(output.suffix(margin).allSatisfy { $0 == 0xAA })
      }
    }
  }

  @Test("What is no stream is not taken for one")
  func noStream() {
    for text in ["", "bvx", "bvx3abcd", "PK\u{3}\u{4}", "\u{89}PNG"] {
      #expect(!isStream(Array(text.utf8)))
      #expect(throws: LZFSEError.self) { try decode(Array(text.utf8), count: 4) }
    }
  }
}

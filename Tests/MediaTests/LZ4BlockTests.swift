import Foundation
import TestSupport
import Testing

@testable import Media

@Suite("Bare LZ4 blocks")
struct LZ4BlockTests {
  private func decode(_ block: [UInt8], count: Int) throws -> [UInt8] {
    var output = [UInt8](repeating: 0xAA, count: count)
    var span = output.mutableSpan
    var bytes = span.mutableBytes
    try LZ4Block.decode(block.span.bytes, into: &bytes)
    return output
  }

  private func encode(_ bytes: [UInt8]) throws -> [UInt8] {
    let block = LZ4Block.encode(bytes.span.bytes)
    return try #require(block)
  }

  /// What a sequence means, one byte at a time: the reference.
  private func plainDecode(_ block: [UInt8]) -> [UInt8]? {
    var out: [UInt8] = []
    var at = 0
    func length(_ nibble: UInt8) -> Int? {
      var value = Int(nibble)
      guard nibble == 15 else { return value }
      while at < block.count {
        at += 1
        value += Int(block[at - 1])
        if block[at - 1] != 255 { return value }
      }
      return nil
    }
    while at < block.count {
      let token = block[at]
      at += 1
      guard let literals = length(token >> 4), at + literals <= block.count else { return nil }
      out += block[at..<at + literals]
      at += literals
      if at == block.count { break }
      guard at + 2 <= block.count else { return nil }
      let distance = Int(block[at]) | Int(block[at + 1]) << 8
      at += 2
      guard distance > 0, distance <= out.count, let match = length(token & 15) else { return nil }
      guard out.count + match < 1 << 20 else { return nil }
      for _ in 0..<match + 4 { out.append(out[out.count - distance]) }
    }
    return out
  }

  @Test("A frame of constant depth is the 397 bytes of the format page")
  func constantFrame() throws {
    let block: [UInt8] =
      [0x2F, 0xD2, 0x04, 0x02, 0x00] + Array(repeating: 0xFF, count: 385)
      + [0x67, 0x50, 0x04, 0xD2, 0x04, 0xD2, 0x04]
    #expect(block.count == 397)
    let frame = try decode(block, count: 98_304)
    #expect(frame.indices.allSatisfy { frame[$0] == ($0 % 2 == 0 ? 0xD2 : 0x04) })
    #expect(try encode(frame).count <= 400)
  }

  @Test("What liblz4 wrote comes back", arguments: [0, 1, 4, 5, 12, 13, 64, 1000, 98_304, 300_000])
  func roundTrip(count: Int) throws {
    for seed in 1...5 {
      let bytes = inflateSample(count: count, seed: UInt64(seed))
      #expect(try decode(encode(bytes), count: count) == bytes)
    }
  }

  /// Blocks that liblz4's own decoder refuses: they break rules that bind only encoders.
  static let unorthodox: [(String, [UInt8], [UInt8])] = [
    ("ends with a match", [0x11, 7, 1, 0], [7, 7, 7, 7, 7, 7]),
    ("a match up to the last byte but one", [0x11, 7, 1, 0, 0x10, 9], [7, 7, 7, 7, 7, 7, 9]),
    ("empty last token", [0x20, 1, 2, 2, 0, 0x00], [1, 2, 1, 2, 1, 2]),
    ("no literals between matches", [0x10, 5, 1, 0, 0x00, 1, 0], Array(repeating: 5, count: 9)),
  ]

  @Test("Rules about the end of a block bind encoders only", arguments: unorthodox.indices)
  func endOfBlock(index: Int) throws {
    let (_, block, bytes) = Self.unorthodox[index]
    #expect(try decode(block, count: bytes.count) == bytes)
    #expect(plainDecode(block) == bytes)
  }

  @Test("Matches overlap their own output at every distance and length")
  func overlaps() throws {
    for distance in 1...40 {
      for length in [4, 5, 7, 8, 9, 15, 16, 17, 18, 19, 33, 63, 64, 65, 200, 70_000] {
        for tail in [0, 1, 5, 20] {
          let block = sequence(literals: distance, distance: distance, match: length) + last(tail)
          let expected = try #require(plainDecode(block))
          #expect(expected.count == distance + length + tail)
          #expect(try decode(block, count: expected.count) == expected)
        }
      }
    }
  }

  @Test("Too few bytes is a failure even where the block is whole")
  func short() throws {
    let block = try encode(inflateSample(count: 1000))
    #expect(throws: LZ4Block.Failure.short(produced: 1000)) { try decode(block, count: 1001) }
    #expect(throws: LZ4Block.Failure.short(produced: 0)) { try decode([], count: 1) }
    #expect(try decode([], count: 0) == [])
  }

  @Test("More than the output holds is a failure, and nothing is written behind it")
  func tooLong() throws {
    let block = try encode(inflateSample(count: 1000))
    for count in [0, 1, 500, 995, 999] {
      #expect(throws: LZ4Block.Failure.self) { try decode(block, count: count) }
    }
  }

  @Test("Cut anywhere, a block fails")
  func everyTruncation() throws {
    let bytes = inflateSample(count: 2000)
    let block = try encode(bytes)
    for cut in 0..<block.count {
      #expect(throws: LZ4Block.Failure.self) { try decode(Array(block[..<cut]), count: 2000) }
    }
  }

  @Test("A match before the start is refused with its offset")
  func matchBeforeStart() throws {
    #expect(throws: LZ4Block.Failure.invalid(inputOffset: 2)) {
      try decode([0x10, 7, 2, 0], count: 5)
    }
    #expect(throws: LZ4Block.Failure.invalid(inputOffset: 2)) {
      try decode([0x10, 7, 0, 0], count: 5)
    }
  }

  @Test("Random and damaged blocks decode like the plain reference, or fail with it")
  func randomBlocks() throws {
    var state: UInt64 = 99
    func random(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(bound))
    }
    let block = try encode(inflateSample(count: 3000))
    for round in 0..<3000 {
      var damaged = block
      if round % 3 == 0 {
        damaged = (0..<random(60)).map { _ in UInt8(random(round % 2 == 0 ? 256 : 40)) }
      } else {
        for _ in 0...random(3) { damaged[random(damaged.count)] = UInt8(random(256)) }
      }
      if let expected = plainDecode(damaged), expected.count < 1 << 20 {
        #expect(try decode(damaged, count: expected.count) == expected)
        #expect(throws: LZ4Block.Failure.short(produced: expected.count)) {
          try decode(damaged, count: expected.count + 1)
        }
      } else {
        #expect(throws: LZ4Block.Failure.self) { try decode(damaged, count: 3000) }
      }
    }
  }

  private func extended(_ value: Int) -> [UInt8] {
    value < 15
      ? [] : Array(repeating: 255, count: (value - 15) / 255) + [UInt8((value - 15) % 255)]
  }

  private func sequence(literals: Int, distance: Int, match: Int) -> [UInt8] {
    [UInt8(min(literals, 15) << 4 | min(match - 4, 15))] + extended(literals)
      + (0..<literals).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
      + [UInt8(distance & 255), UInt8(distance >> 8)] + extended(match - 4)
  }

  private func last(_ literals: Int) -> [UInt8] {
    literals == 0
      ? []
      : [UInt8(min(literals, 15) << 4)] + extended(literals)
        + Array(repeating: 0x5A, count: literals)
  }
}

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

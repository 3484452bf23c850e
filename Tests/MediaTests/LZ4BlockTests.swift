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

/// Streams of the reference encoder (lzfse 1.0, through pyliblzfse 0.4.1) and what they hold.
enum LZFSESamples {
  struct Sample: Sendable, CustomStringConvertible {
    var description: String
    var stream: [UInt8]
    var content: [UInt8]
  }

  static let all = [
    Sample("raw bytes", raw, noise(20)),
    Sample("LZVN", lzvn, text(500)),
    Sample("LZVN with long matches", lzvnlong, [UInt8](repeating: 0, count: 3000) + text(600)),
    Sample("packed tables, matches", fse, text(6000)),
    Sample("packed tables, floats", floats, sampleFloats),
    Sample("packed tables, literals", noise, noise(5000).map { $0 & 3 }),
    // The stream of the sample with matches, its header written in the other form; checked with the reference decoder.
    Sample("plain tables", plain, text(6000)),
  ]

  private static func text(_ count: Int) -> [UInt8] {
    let line = Array("The quick brown fox jumps over the lazy dog. ".utf8)
    return (0..<count).map { line[$0 % line.count] }
  }

  private static func noise(_ count: Int) -> [UInt8] {
    var state: UInt32 = 1
    return (0..<count).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(state >> 24)
    }
  }

  private static let sampleFloats: [UInt8] = (0..<1500).flatMap { index in
    let bits = (1 + Float((index * index) % 97) / 64).bitPattern
    return (0..<4).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt32($0))) }
  }

  private static let raw = "YnZ4LRQAAAA8XoG0DF7GjgSjQGyX1jz73FOuiGJ2eCQ="

  private static let lzvn =
    "YnZ4bvQBAABAAAAA4BBUaGUgcXVpY2sgYnJvd24gZm94IGp1bXBzIG92ZXIgdAAf6mxhenkgZG9nLiA4LfD/8JziIHEG"
    + "AAAAAAAAAGJ2eCQ="

  private static let lzvnlong =
    "YnZ4bhAOAABbAAAAaAEA8P/w//D/8P/w//D/8P/w//D/8P/w//rgEFRoZSBxdWljayBicm93biBmb3gganVtcHMgb3Zl"
    + "ciB0AB/qbGF6eSBkb2cuIDgt8P/w//Hid24GAAAAAAAAAGJ2eCQ="

  private static let fse =
    "YnZ4MnAXAAA0AOABAAQAEN0Q91YiDwBwoQAAADLAgAyPAAAcAgDAIYcAAAAA8Bg8Go8CAADAowAAAAAAAAAAAAAAAAAA"
    + "AAAAAAAAwKsCAADAMQAAAAAAAAAAAMcAAADH/8Dx8Y9wfPwPHB//A8fH/8ArcXz8Ixwf/wPH/8Dx8TEAAAAAAAAAAAAA"
    + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgONJhdKbUoXTXHUBEtNKXOwBejapURFBlHE6/wIAAAAAAAAAAADL8X/C/yNi"
    + "dngk"

  private static let floats =
    "YnZ4MnAXAADwAKAGABwAAJJEgnOVNgAQsAAAAD7IsAHrCfgBAAgAACQAfABvAAAAsE8v4AKAC7jg4uLi4uL09PT0H/gG"
    + "LgAAAAAAAAAAAPjPLi6ACy4GF8DgArgYXAwGF+NiAAAAAAAAAMAr8k4AAAAAAAAAAAAAAAAAAAAAgwsGgwFcAYML4IIB"
    + "AAxgAAAXwAUXwAAALrhgAIMBAADABRcADAYXXABwwQAAAOCCAQAAGG1k2x/r5185XoZRtbKKmH818nDuIS7QddQJlVPr"
    + "vcLfdHbP1c36/Kpqp41x/Ge1Xqv5zVEAizwiFJrQW7ldvH2K3iCpjDsrpnd6cy5ewaT6u2gttuvSLIw52YzBXN1ztbLi"
    + "K1ltVp8AAAAAAAAAAAAAQHwEzv9VCPw/4y/KMIlIuIImjEYm3iMJDtGLW7TDGoTjAfkoi2kA4UIz4rAAYnZ4JA=="

  private static let noise =
    "YnZ4MogTAACAASAGAF4DEA7gKtcmwAUwlAAAAD88QADPwKmqqgAICFw8AbdDBQBAVdWY2TH2vNgXBzcXd2dHR9e3p2eH"
    + "N0MFAAAAAACAR+cF+ml+HAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    + "AAAAAAAAAAAAAAC4Z2dUBjuHNaXVmPdXzXNZfWo2IxrZVO9KeA3InsP7PAdBFyzUt8yvFxS/rM1tfWrODSJmRYKKKLOe"
    + "fSdCW2LPFS4LTL9qsw78PAeRsRXd2BZedwIiaQUsDNr7BUw/OfQCAAAAAAAAAAAAAAAPDKJeukFAgRGDOa9KRTpRe9Ug"
    + "RhQwF/Qfqm94O5k1djhBguURx37CGfF29HgWQcg+N1RX2+6q75pd7F+WM0AieyALhUG53fBhLCn2WLxMkp7QZy65z49A"
    + "/nODAIYahHzMo3od3un9CCJjB5q3bR1cCW8LGLh0j8wO/ejKR41qhb7NmPfTx3ne3FjMu4QdatbhXleJBzapwb4UZBIm"
    + "7pQKaunXchaDEdir5K0PoM/FdrgZE7X2m2696W+XH0aoQ8dxLqU3La1w9rpzpmo86yXKo8Ba56olT1ndcKqJ69DdKIt6"
    + "8xEfdY1QqtM6aeoDCrK/5ApWWMifYiQCv/daISM376kc2L+CMAgUKmecmqLJa6Y7Idra58KPLVgmjmic7XhSHNWn7u2X"
    + "i4T7SkWkqKzRTI3RlVWWb7ygWj0JwMEvAdi2v4pAglWEe/OOrT086jOejO5xAjpqTTWTmN9oYB021rWNqEMrNG+ZUqxx"
    + "eYTIPVgjlug7dOB6nik28bbXq0REjxkHLTF5lcmJZAS2Hja57u/p0fDCS945BIxdxv8l/31FaX5zPxpKNLtONajlbqqY"
    + "8HW3cDSpYyncpujGMNhwqrwbEAC9HMScg1/9avrHi0BJUT/uGMUpb99iwCEDHUi/LcSZPdoCKhXgHgRMpQIGWonMwVV+"
    + "9bMyqys92Zw5oOTFNBnKx43Pl7AsL4FNVA7pJ17DNevm6hNPcMTcVlgFUdMufFLMEhDMyO31AL1VtkTup0NsxXeXyHKx"
    + "SwjPcGtxPnthd3ez7neQnSDilQHPlCxIHiBivKSG5NoDAlsVea9spKMuaun1OMg2aL0+VORB4Cp0UBvNUFEGLkBUZMzy"
    + "8PX6slTaC1QwZ4gJpouAjDBJj/cAAc9osPxEmV2a3vbTRDxz4rjbhxYwcDBJgYhGuAhEMIYM6aNLR3HrboTZFoHjNucO"
    + "iuF526fqkgOm6NkN7q6gCcdDZsycH2w5H0aDRARQVuLB17emg9ZPvOpUH/297qdYks8Xjs5rsiCuC3UM95Qq2t2nZ8pV"
    + "AIX16Z8OvPeG5SJv2cgOhaJK5NvPcM6LTCGJPuh3ViB8r2fZaWZDhF7F4NGAN/z0PnrzoS2JXFDvDW2e+Aa3ik0kyffS"
    + "cp4+AmuZuwzZWlQneYufBrGDH51/FOaL272K3OUgo0Ue4zgBvZRJtsaAFLqgM/6HLjg0OzwRjZ+0W1ybBeptdsZPDe3P"
    + "tD4CrY35eQ12tkQIPgMAvJF3the978Do4ssw1zI/CCTthlJ+3QuD3Di/Hbx91tzt54m/clpnTpCpFV36CA2Ck8x1elkw"
    + "gnuApC65JznrS7FPxrbj4/D/gcB8And/sJt9oaLazt9ftBrrgLHDWLU7AboxoI6SKvlvE28qIguAHaQLOmf07pBHlOEX"
    + "kxWNoRpJcXITWGc94Ku+C4grzUMASV28Qol4pDhsINC+7knPma50aSExvDT/Fe+Mztgj9+M2leB4H7SlpRpRLfhNLUoV"
    + "c95VA4S1ZdNXckslm0GMKzQG011NsA3+lMfDAO6M6p9nj/4jmoGxzg+vK1mfFfgRyXE/nTh8t9zWowrAkZIV5VKIivn0"
    + "i8wTJZYbjF0qbfgqJ7MHbi+aLyNXzduEYK5zyAw73sIbZge2hu2kFpUQ+rjkCMMUfqvnjxAKyTpMx50lmqsepa4d1feg"
    + "TZFzmzTJgbjX8CJMlBGwcFfyx7bz6H1W5gyOvBhm0IomlOQlcOUyu41TiB4aDrHdw3FwwJxkVO/Kuise9qcJb28VNZPz"
    + "t1yKsVn4oeGPcy/uLpyBM/r4y2XzW59kGTmAnPp3YUfTQwKlOgfxfpPIzvOdsbPnzBpQsJvgDtyh78QmvA1KqACat2Oy"
    + "CG+sepK9TWFE2Vrs2GUrfAjnJyDXc93SED5QIma7HPSzN2z9MljXT+ot/BfSzQKuLQf0nJf+CjfAEq4PwA1idngk"

  private static let plain =
    "YnZ4MXAXAAAtAAAANAAAAAQAAAAeAAAADwAAAPr////dAMQBbwGJAAAAAAAyADAAyAAgAAAAAAAAAAAAAAAAABAAAAAA"
    + "AAAAAAAAAAAAAAAAAAAAAAAQAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAwAIAAQAAAAAAA"
    + "AAAAAAAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAMIAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    + "AAAAAAAUAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    + "AAAAAAAAAAAAAAAAFAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAUACcAFAAUADsAFAAUACcAFAAUACcAFAAUACcAYgAU"
    + "ABQAOwAUABQAJwAUACcAFAAUABQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    + "AAAAAAAAAAAAAAAAAACA40mF0ptShdNcdQES00pc7AF6NqlREUGUcTr/AgAAAAAAAAAAAMvxf8L/I2J2eCQ="
}

extension LZFSESamples.Sample {
  fileprivate init(_ description: String, _ base64: String, _ content: [UInt8]) {
    self.init(
      description: description, stream: Array(Data(base64Encoded: base64) ?? Data()),
      content: content)
  }
}

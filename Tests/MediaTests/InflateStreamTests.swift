import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Media

@Suite("A DEFLATE stream inside a mapped file")
struct InflateStreamTests {
  static let formats: [DeflateFormat] = [.raw, .zlib, .gzip]

  @Test("What was compressed comes out, whatever the size of the pieces", arguments: formats)
  func wholeStream(format: DeflateFormat) throws {
    let bytes = inflateSample(count: 100_000)
    let packed = try DeflateEncoder.compress(bytes, format: format)
    try withMappedFile(packed) { file in
      for piece in [1, 1000, 50_000, 100_000, 1 << 20] {
        let stream = InflateStream(file, range: 0..<file.count, format: format)
        #expect(stream.readAll(piece: piece) == bytes)
        #expect(stream.state == .ended)
        #expect(stream.inputOffset == packed.count)
        #expect(stream.producedBytes == bytes.count)
      }
    }
  }

  @Test("The end of a stream is where the next one starts", arguments: formats)
  func concatenated(format: DeflateFormat) throws {
    let parts = [inflateSample(count: 5000), [], inflateSample(count: 70_000, seed: 3)]
    let packed = try parts.map { try DeflateEncoder.compress($0, format: format) }
    try withMappedFile([1, 2, 3] + packed.joined() + [9]) { file in
      var offset = 3
      for (part, bytes) in zip(parts, packed) {
        let stream = InflateStream(file, range: offset..<file.count, format: format)
        #expect(stream.readAll(piece: 4096) == part)
        #expect(stream.state == .ended)
        #expect(stream.inputOffset == offset + bytes.count)
        offset = stream.inputOffset
      }
      #expect(offset == file.count - 1)
    }
  }

  @Test("A stream longer than the input window is read to its end")
  func longStream() throws {
    var state: UInt64 = 1
    let noise = (0..<3_500_000).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1
      return UInt8(truncatingIfNeeded: state >> 33)
    }
    let packed = try DeflateEncoder.compress(noise, format: .raw, level: 1)
    try withMappedFile(packed) { file in
      let stream = InflateStream(file, range: 0..<file.count, format: .raw)
      #expect(stream.readAll(piece: 196_608) == noise)
      #expect(stream.state == .ended)
    }
  }

  @Test("Cut anywhere, a stream gives what came before the cut", arguments: formats)
  func everyTruncation(format: DeflateFormat) throws {
    let bytes = inflateSample(count: 3000)
    let packed = try DeflateEncoder.compress(bytes, format: format)
    try withMappedFile(packed) { file in
      var longest = 0
      for cut in 0..<packed.count {
        let stream = InflateStream(file, range: 0..<cut, format: format)
        let part = stream.readAll(piece: 500)
        #expect(stream.state == .truncated)
        #expect(part.elementsEqual(bytes[..<part.count]))
        #expect(part.count >= longest)
        longest = part.count
      }
      // All but the end mark and the checksum.
      #expect(longest == bytes.count)
    }
  }

  @Test("Bytes before the damage are kept, and the state says that there is damage")
  func damage() throws {
    let bytes = inflateSample(count: 60_000)
    let first = try DeflateEncoder.compress(bytes, format: .raw)
    // Block type 3 does not exist.
    let open = [UInt8](try openEnded(bytes)) + [0x07]
    try withMappedFile(open) { file in
      let stream = InflateStream(file, range: 0..<file.count, format: .raw)
      #expect(stream.readAll(piece: 10_000) == bytes)
      guard case .damaged = stream.state else {
        Issue.record("\(stream.state)")
        return
      }
      var more: [UInt8] = []
      #expect(stream.read(into: &more, count: 10) == 0)
    }
    try withMappedFile(first) { file in
      let stream = InflateStream(file, range: 0..<file.count, format: .zlib)
      #expect(stream.readAll(piece: 10).isEmpty)
      #expect(stream.state == .damaged("incorrect header check"))
    }
  }

  /// Stored blocks of `bytes` without a last one.
  private func openEnded(_ bytes: [UInt8]) throws -> [UInt8] {
    let size = UInt16(bytes.count)
    return [0, UInt8(size & 255), UInt8(size >> 8), UInt8(~size & 255), UInt8(~size >> 8)] + bytes
  }

  @Test("A wrong checksum is damage behind the last byte")
  func wrongChecksum() throws {
    let bytes = inflateSample(count: 2000)
    var packed = try DeflateEncoder.compress(bytes, format: .gzip)
    packed[packed.count - 6] ^= 1
    try withMappedFile(packed) { file in
      let stream = InflateStream(file, range: 0..<file.count, format: .gzip)
      #expect(stream.readAll(piece: 600) == bytes)
      #expect(stream.state == .wrongChecksum)
    }
  }

  @Test("Random bytes never trap and never run on", arguments: formats)
  func randomBytes(format: DeflateFormat) throws {
    for seed in 1...200 {
      let noise = inflateSample(count: 1500, seed: UInt64(seed)).reversed()
      try withMappedFile(Array(noise)) { file in
        let stream = InflateStream(file, range: (seed % 700)..<file.count, format: format)
        _ = stream.readAll(piece: 4096)
        #expect(stream.state != .open)
      }
    }
  }

  @Test("A range beyond the file is cut to it")
  func rangeOutside() throws {
    try withMappedFile([3, 0]) { file in
      let stream = InflateStream(file, range: 0..<Int.max, format: .raw)
      #expect(stream.readAll(piece: 10).isEmpty)
      #expect(stream.state == .ended)
      let behind = InflateStream(file, range: 100..<200, format: .raw)
      #expect(behind.readAll(piece: 10).isEmpty)
      #expect(behind.state == .truncated)
    }
  }
}

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

/// Bytes that compress like sensor data: runs, slopes and noise from a fixed seed.
func inflateSample(count: Int, seed: UInt64 = 7) -> [UInt8] {
  var state = seed
  return (0..<count).map { i in
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return switch (i / 257) % 3 {
    case 0: UInt8(truncatingIfNeeded: i / 257)
    case 1: UInt8(truncatingIfNeeded: i)
    default: UInt8(truncatingIfNeeded: state >> 40)
    }
  }
}

/// Calls `body` with a mapped file of `bytes`, which is removed afterwards.
func withMappedFile<Result>(
  _ bytes: [UInt8], _ body: (MappedFile) throws -> Result
) throws -> Result {
  let folder = try TemporaryFolder()
  return try body(MappedFile(try folder.write(bytes, to: "file")))
}

extension InflateStream {
  /// Everything that comes out, asked for in pieces of `piece` bytes.
  func readAll(piece: Int) -> [UInt8] {
    var all: [UInt8] = []
    var buffer: [UInt8] = []
    while true {
      let count = read(into: &buffer, count: piece)
      all += buffer[..<count]
      if count < piece { return all }
    }
  }
}

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

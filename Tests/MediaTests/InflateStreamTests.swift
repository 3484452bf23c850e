@testable import Media
@testable import Core
import Testing

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

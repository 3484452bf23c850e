@testable import Core
import TestSupport
import Testing

@testable import Media

/// The way in one piece gives what libpng gives, or leaves the file to it.
@Suite("PNG files inflated in one piece")
struct PlainPNGTests {
  private func reference(_ bytes: [UInt8], _ format: PNGFormat) -> [UInt16]? {
    if format.bitDepth == 16 {
      let picture: PNGReader.Picture<UInt16>? = try? PNGReader.libpng(bytes, as: format, file: nil)
      return picture?.samples
    }
    let picture: PNGReader.Picture<UInt8>? = try? PNGReader.libpng(bytes, as: format, file: nil)
    return picture?.samples.map { UInt16($0) }
  }

  /// `nil` where it is left to libpng.
  private func plain(_ bytes: [UInt8], _ format: PNGFormat) -> [UInt16]? {
    if format.bitDepth == 16 {
      let picture: PNGReader.Picture<UInt16>? = PNGReader.plain(bytes, as: format)
      return picture?.samples
    }
    let picture: PNGReader.Picture<UInt8>? = PNGReader.plain(bytes, as: format)
    return picture?.samples.map { UInt16($0) }
  }

  /// A file whose lines take the filters in turn, its data in `parts` parts.
  private func file(
    _ format: PNGFormat, width: Int, height: Int, _ content: PNGContent, filters: [UInt8],
    parts: Int = 1, before: [(String, [UInt8])] = [], after: [(String, [UInt8])] = []
  ) throws -> [UInt8] {
    let rowBytes = width * format.pixelBytes
    // Any bytes are the right ones of some picture, whatever the filter.
    let values = content.values(count: rowBytes * height, rowLength: rowBytes)
    var lines: [UInt8] = []
    for y in 0..<height {
      lines.append(filters[y % filters.count])
      lines += values[y * rowBytes..<(y + 1) * rowBytes].map { UInt8(truncatingIfNeeded: $0) }
    }
    let stream = try DeflateEncoder.compress(lines, format: .zlib)
    func big(_ value: Int) -> [UInt8] {
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
    var chunks: [(String, [UInt8])] = [
      ("IHDR", big(width) + big(height) + [format.bitDepth, format.colorType, 0, 0, 0])
    ]
    chunks += before
    for part in 0..<parts {
      let (from, to): (Int, Int) = (stream.count * part / parts, stream.count * (part + 1) / parts)
      chunks.append(("IDAT", Array(stream[from..<to])))
    }
    chunks += after
    chunks.append(("IEND", []))
    var file = Self.signature
    for (type, data) in chunks {
      let content = Array(type.utf8) + data
      file += big(data.count)
      file += content
      file += Self.sum(content)
    }
    return file
  }

  private static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

  /// CRC-32 as in the PNG specification, bit by bit.
  private static func sum(_ bytes: [UInt8]) -> [UInt8] {
    var crc: UInt32 = 0xffff_ffff
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xedb8_8320 : crc >> 1 }
    }
    crc = ~crc
    return (0..<4).map { UInt8(truncatingIfNeeded: crc >> (24 - 8 * $0)) }
  }

  private static let formats: [PNGFormat] = [.rgb8, .gray8, .gray16]

  @Test(
    "Every filter alone and all in turn, every content and size", arguments: PNGContent.allCases)
  func everyFilter(_ content: PNGContent) throws {
    for format in Self.formats {
      for (width, height) in [(1, 1), (1, 9), (5, 7), (16, 3), (17, 6), (67, 11)] {
        for filters in [[0], [1], [2], [3], [4], [0, 1, 2, 3, 4], [4, 3, 2]] as [[UInt8]] {
          let bytes = try file(format, width: width, height: height, content, filters: filters)
          let expected = try #require(reference(bytes, format))
          #expect(plain(bytes, format) == expected, "\(format) \(width)x\(height) \(filters)")
        }
      }
    }
  }

  @Test(
    "Files of our own writer go this way and come back, as they do through libpng",
    arguments: PNGContent.allCases)
  func ownFiles(_ content: PNGContent) throws {
    for (width, height) in [(3, 2), (64, 48), (131, 77)] {
      for compression in PNGCompression.allCases {
        var writer = PNGWriter(compression: compression)
        let values = content.values(count: width * height * 3, rowLength: width * 3)
        let low = values.map { UInt8(truncatingIfNeeded: $0) }
        let rgb = try writer.encode(rgb: low, width: width, height: height)
        #expect(plain(rgb, .rgb8) == low.map { UInt16($0) })
        #expect(reference(rgb, .rgb8) == low.map { UInt16($0) })
        let gray = Array(low.prefix(width * height))
        #expect(
          plain(try writer.encode(gray8: gray, width: width, height: height), .gray8)
            == gray.map { UInt16($0) })
        let depth = Array(values.prefix(width * height))
        #expect(
          plain(try writer.encode(gray16: depth, width: width, height: height), .gray16) == depth)
        #expect(
          reference(try writer.encode(gray16: depth, width: width, height: height), .gray16)
            == depth)
      }
    }
  }

  @Test("Data in several parts, empty ones too, and notes before and behind")
  func parts() throws {
    let note = ("tEXt", Array("Title\0x".utf8))
    for parts in [1, 2, 3, 7, 300] {
      let bytes = try file(
        .rgb8, width: 9, height: 8, .noise, filters: [4], parts: parts, before: [note],
        after: [note, note])
      #expect(plain(bytes, .rgb8) == reference(bytes, .rgb8))
      #expect(plain(bytes, .rgb8) != nil)
    }
  }

  @Test("What else a file says of its pixels changes none of them")
  func notes() throws {
    for (name, data) in [
      ("gAMA", [0, 0, 0xb1, 0x8f]), ("sRGB", [0]), ("pHYs", [0, 0, 0, 1, 0, 0, 0, 1, 0]),
      ("eXIf", Array("MM\0*\0\0\0\u{8}\0\0\0\0\0\0".utf8)), ("tIME", [7, 0xea, 1, 1, 1, 1, 1]),
      ("iDOT", [UInt8](repeating: 0, count: 28)), ("cHRM", [UInt8](repeating: 1, count: 32)),
    ] as [(String, [UInt8])] {
      for format in Self.formats {
        let bytes = try file(
          format, width: 9, height: 8, .noise, filters: [4, 2], before: [(name, data)])
        #expect(plain(bytes, format) == reference(bytes, format), "\(name)")
        #expect(plain(bytes, format) != nil, "\(name)")
      }
    }
  }

  @Test("A bare copy has the same pixels and nothing else, whatever the file says besides")
  func bare() throws {
    let note = ("tEXt", Array("Title\0x".utf8))
    for parts in [1, 3] {
      let alone = try file(.gray16, width: 9, height: 8, .noise, filters: [4], parts: parts)
      let noted = try file(
        .gray16, width: 9, height: 8, .noise, filters: [4], parts: parts, before: [note],
        after: [note])
      for bytes in [alone, noted, noted + [1, 2, 3]] {
        #expect(PNGReader.bareGray16(bytes, width: 9, height: 8) == alone)
      }
      for (width, height) in [(8, 9), (9, 7), (10, 8)] {
        #expect(PNGReader.bareGray16(noted, width: width, height: height) == nil)
      }
      #expect(PNGReader.bareGray8(noted, width: 9, height: 8) == nil)
      for count in noted.indices {
        #expect(PNGReader.bareGray16(Array(noted.prefix(count)), width: 9, height: 8) == nil)
      }
      for index in alone.indices {
        var wrong = alone
        wrong[index] ^= 0x10
        #expect(PNGReader.bareGray16(wrong, width: 9, height: 8) == nil, "byte \(index)")
      }
    }
  }

  @Test("What is not of the usual kind is left to libpng")
  func otherKinds() throws {
    for (name, data) in [
      ("sBIT", [8, 8, 8]), ("tRNS", [0, 1, 0, 2, 0, 3]), ("PLTE", [1, 2, 3]),
      ("IHDR", [UInt8](repeating: 0, count: 13)), ("abCd", []),
      ("tEXt", [UInt8](repeating: 65, count: 70_000)),
    ] as [(String, [UInt8])] {
      let bytes = try file(
        .rgb8, width: 3, height: 3, .ramp, filters: [0], before: [(name, data)])
      #expect(plain(bytes, .rgb8) == nil, "\(name)")
    }
    let notes = [(String, [UInt8])](repeating: ("tEXt", Array("a\0b".utf8)), count: 40)
    #expect(
      plain(try file(.gray8, width: 3, height: 3, .ramp, filters: [0], after: notes), .gray8)
        == nil)
    for sample in PNGSamples.colors where sample.testDescription != "8-bit RGB" {
      #expect(plain(sample.bytes, .rgb8) == nil)
    }
    // Another kind than is asked for.
    #expect(plain(PNGSamples.gray16, .gray8) == nil)
    #expect(plain(PNGSamples.gray16, .rgb8) == nil)
    #expect(plain(PNGSamples.bomb, .gray16) == nil)
  }

  @Test("Data parts with something between are left to libpng")
  func interruptedData() throws {
    let bytes = try file(
      .gray8, width: 3, height: 3, .ramp, filters: [0],
      after: [("tEXt", Array("a\0b".utf8)), ("IDAT", [])])
    #expect(plain(bytes, .gray8) == nil)
  }

  @Test("A filter that does not exist, lines too few or too many are left to libpng")
  func wrongLines() throws {
    #expect(
      plain(try file(.gray8, width: 4, height: 4, .ramp, filters: [0, 5]), .gray8) == nil)
    let bytes = try file(.gray8, width: 4, height: 4, .ramp, filters: [0])
    for height: UInt8 in [3, 5] {
      var wrong = bytes
      wrong[23] = height
      wrong.replaceSubrange(29..<33, with: Self.sum(Array(wrong[12..<29])))
      #expect(plain(wrong, .gray8) == nil)
    }
  }

  @Test("Cut anywhere, it is left to libpng")
  func cuts() throws {
    let bytes = try file(.rgb8, width: 7, height: 5, .smallNoise, filters: [2, 4], parts: 2)
    for count in 0..<bytes.count {
      #expect(plain(Array(bytes.prefix(count)), .rgb8) == nil, "\(count)")
    }
  }

  @Test("Any wrong byte is left to libpng, or gives the pixels that libpng gives")
  func wrongBytes() throws {
    for format in Self.formats {
      let bytes = try file(format, width: 5, height: 4, .smallNoise, filters: [1, 2, 3, 4])
      for index in bytes.indices {
        for mask: UInt8 in [0x01, 0x20, 0x80] {
          var wrong = bytes
          wrong[index] ^= mask
          guard let pixels = plain(wrong, format) else { continue }
          #expect(pixels == reference(wrong, format), "byte \(index)")
        }
      }
    }
  }

  @Test("Wrong bytes with right checksums never give what libpng does not")
  func wrongBytesWithRightSums() throws {
    let bytes = try file(.gray8, width: 6, height: 5, .smallNoise, filters: [2, 4])
    // The data of IDAT, and its checksum behind.
    let data = 41..<bytes.count - 16
    for index in data {
      for mask: UInt8 in [0x01, 0x10, 0xff] {
        var wrong = bytes
        wrong[index] ^= mask
        wrong.replaceSubrange(
          data.upperBound..<data.upperBound + 4, with: Self.sum(Array(wrong[37..<data.upperBound])))
        guard let pixels = plain(wrong, .gray8) else { continue }
        #expect(pixels == reference(wrong, .gray8), "byte \(index)")
      }
    }
  }
}

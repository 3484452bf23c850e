@testable import Media
import TestSupport
import Testing

@Suite("JPEG pictures")
struct JPEGWriterTests {
  /// Pictures whose blocks have few, many, large and widely spaced coefficients.
  enum Content: CaseIterable {
    case noise, blackAndWhite, smooth, tiles, stripes

    func picture(_ width: Int, _ height: Int, _ numbers: inout SeededGenerator) -> [UInt8] {
      var rgb: [UInt8] = []
      for y in 0..<height {
        for x in 0..<width {
          for channel in 0..<3 { rgb.append(value(x, y, channel, &numbers)) }
        }
      }
      return rgb
    }

    private func value(
      _ x: Int, _ y: Int, _ channel: Int, _ numbers: inout SeededGenerator
    ) -> UInt8 {
      switch self {
      case .noise: UInt8(truncatingIfNeeded: numbers.next())
      case .blackAndWhite: numbers.next() & 1 == 0 ? 0 : 255
      case .smooth: UInt8((x * 3 + y * 2 + channel * 60) & 255)
      case .tiles: (x / 8 + y / 5 + channel) & 1 == 0 ? 0 : 255
      case .stripes: (x + channel) & 1 == 0 ? 8 : 247
      }
    }
  }

  @Test(
    "Bytes are those of libjpeg-turbo for every content, side and quality",
    arguments: Content.allCases)
  func bytesOfTheLibrary(content: Content) throws {
    var numbers = SeededGenerator(seed: 1)
    for quality in [1, 10, 50, 75, 90, 95, 98, 100] {
      var writer = try JPEGWriter(quality: quality)
      var library = try JPEGWriter(quality: quality, byLibraryAlone: true)
      for _ in 0..<20 {
        let width = Int.random(in: 1...70, using: &numbers)
        let height = Int.random(in: 1...70, using: &numbers)
        let rgb = content.picture(width, height, &numbers)
        var (file, expected): ([UInt8], [UInt8]) = ([], [])
        try writer.encode(rgb: rgb, width: width, height: height, into: &file)
        try library.encode(rgb: rgb, width: width, height: height, into: &expected)
        #expect(file == expected, "\(width)x\(height), quality \(quality)")
      }
    }
  }

  @Test("Every width and height modulo the size of a block, with one writer for all of them")
  func edges() throws {
    var numbers = SeededGenerator(seed: 2)
    var writer = try JPEGWriter(quality: 95)
    var library = try JPEGWriter(quality: 95, byLibraryAlone: true)
    var (file, expected): ([UInt8], [UInt8]) = ([], [])
    for width in 1...34 {
      for height in 1...34 {
        let rgb = Content.noise.picture(width, height, &numbers)
        try writer.encode(rgb: rgb, width: width, height: height, into: &file)
        try library.encode(rgb: rgb, width: width, height: height, into: &expected)
        #expect(file == expected, "\(width)x\(height)")
      }
    }
  }

  @Test("A picture of more data than wait at once: 512x512 of noise")
  func manyPieces() throws {
    var numbers = SeededGenerator(seed: 3)
    let rgb = Content.noise.picture(512, 512, &numbers)
    var writer = try JPEGWriter(quality: 100)
    var library = try JPEGWriter(quality: 100, byLibraryAlone: true)
    var (file, expected): ([UInt8], [UInt8]) = ([], [])
    try writer.encode(rgb: rgb, width: 512, height: 512, into: &file)
    try library.encode(rgb: rgb, width: 512, height: 512, into: &expected)
    #expect(file == expected)
    #expect(file.count > 300_000)
  }

  @Test(
    "Bytes that are no picture of that size are refused",
    arguments: [(0, 1, 0), (1, 0, 0), (2, 2, 11), (65_501, 1, 65_501 * 3)])
  func refused(width: Int, height: Int, count: Int) throws {
    var writer = try JPEGWriter(quality: 95)
    var file: [UInt8] = []
    #expect(throws: ImageError.self) {
      try writer.encode(
        rgb: [UInt8](repeating: 0, count: count), width: width, height: height, into: &file)
    }
  }
}

@testable import Media
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("PNG files of 16-bit RGB")
struct WidePNGTests {
  private static let size = (width: 37, height: 23)

  /// Noise, a gradient and the extremes.
  private static func pixels(_ seed: UInt64) -> [UInt16] {
    var random = SeededGenerator(seed: seed)
    return (0..<size.width * size.height * 3).map { place in
      switch place / 300 % 3 {
      case 0: UInt16.random(in: 0...UInt16.max, using: &random)
      case 1: UInt16(truncatingIfNeeded: place * 41)
      default: place % 2 == 0 ? 0 : .max
      }
    }
  }

  @Test("What is written is read", arguments: PNGCompression.allCases)
  func roundTrip(compression: PNGCompression) throws {
    let folder = try TemporaryFolder()
    for color in [nil, PNGColor(primaries: 9, transfer: 8)] {
      let pixels = Self.pixels(3)
      var writer = PNGWriter(compression: compression, color: color)
      var bytes: [UInt8] = []
      // Memory is used again.
      for _ in 0..<2 {
        try writer.encode(
          rgb16: pixels, width: Self.size.width, height: Self.size.height, into: &bytes)
      }
      let file = folder.path.appending("a.png")
      try file.write(bytes)
      let read = try PNGReader.wideColor(at: file)
      #expect(read.width == Self.size.width && read.height == Self.size.height)
      #expect(read.rgb == pixels)
      // As 8 bits it is what libpng rounds.
      let small = try PNGReader.color(at: file)
      for (wide, narrow) in zip(pixels, small.rgb) {
        #expect(abs(Double(wide) / 257 - Double(narrow)) <= 1)
      }
    }
  }

  @Test("A file that is no 16-bit RGB is refused")
  func refused() throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending("a.png")
    var writer = PNGWriter()
    try file.write(writer.encode(rgb: [1, 2, 3], width: 1, height: 1))
    #expect(throws: ImageError.self) { try PNGReader.wideColor(at: file) }
    #expect(throws: ImageError.self) {
      var bytes: [UInt8] = []
      try writer.encode(rgb16: [1, 2], width: 1, height: 1, into: &bytes)
    }
  }
}

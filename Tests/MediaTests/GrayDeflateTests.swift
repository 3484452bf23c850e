@testable import Core
import TestSupport
import Testing

@testable import Media

@Suite("Repeating gray pixels")
struct GrayDeflateTests {
  static let filters: [ScanlineFilter] = [.sub, .up, .paeth]

  /// One pixel wide or high, odd sides, around the steps of the loops, several blocks, rows longer than the
  /// window and than what is looked up at once.
  static let sizes =
    (1...20).map { ($0, 5) } + [(1, 90), (90, 1), (333, 61), (700, 520), (4097, 13), (11_000, 5)]

  @Test(
    "Pictures come back pixel for pixel, whatever they hold, and are never larger than stored",
    arguments: filters)
  func roundTrip(filter: ScanlineFilter) throws {
    var deflate = GrayDeflate()
    for (width, height) in Self.sizes {
      for image in Self.pictures(width: width, height: height) {
        let file = try Self.file(image, filter, &deflate)
        #expect(try PNGReader.color(in: file) == image, "\(width)x\(height)")
        #expect(file.count <= PNGWriterTests.largestFile(width * height * 3, height: height))
      }
    }
  }

  @Test("Wide vectors give the same bytes", .enabled(if: GrayFinder.hasWide))
  func sameOnAllProcessors() throws {
    var plain = GrayDeflate(isWide: false)
    var wide = GrayDeflate(isWide: true)
    var choices = [false, true].map { EncodingStrategy(.fast, isWide: $0) }
    for (width, height) in Self.sizes {
      for image in Self.pictures(width: width, height: height) {
        let expected = try Self.file(image, .paeth, &plain)
        #expect(try Self.file(image, .paeth, &wide) == expected, "\(width)x\(height)")
        #expect(
          image.withLines { choices[0].estimates(of: &$0) }
            == image.withLines { choices[1].estimates(of: &$0) })
      }
    }
  }

  /// Video with and without clipped channels and with a band of noise in between, noise, gray noise over all
  /// values and over few, and one color.
  static func pictures(width: Int, height: Int) -> [ColorImage] {
    var random = SeededGenerator(seed: UInt64(width &* 31 &+ height))
    let count = width * height * 3
    func gray(_ mask: UInt64) -> ColorImage {
      var rgb = [UInt8](repeating: 0, count: count)
      for pixel in stride(from: 0, to: count, by: 3) {
        let value = UInt8(truncatingIfNeeded: random.next() & mask)
        (rgb[pixel], rgb[pixel + 1], rgb[pixel + 2]) = (value, value, value)
      }
      return ColorImage(width: width, height: height, rgb: rgb)
    }
    let noise = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    return VideoContent.allCases.map { $0.picture(width: width, height: height) } + [
      ColorImage(width: width, height: height, rgb: noise),
      gray(255), gray(3),
      ColorImage(width: width, height: height, rgb: [UInt8](repeating: 200, count: count)),
    ]
  }

  /// The picture as a file, whichever way would be chosen.
  static func file(
    _ image: ColorImage, _ filter: ScanlineFilter, _ deflate: inout GrayDeflate
  ) throws -> [UInt8] {
    let lineBytes = image.width * 3 + 1
    let capacity =
      PixelDeflate.largestBytes(lineBytes: lineBytes, height: image.height)
      + PNGChunks.overheadBytes(nil)
    var file = [UInt8](repeating: 0, count: capacity)
    let count = try #require(
      image.withLines { lines in
        file.withUnsafeMutableBufferPointer { file -> Int in
          guard let start = file.baseAddress else { return 0 }
          let bytes = deflate.compress(
            &lines, evenFilter: filter,
            to: UnsafeMutableRawPointer(start + PNGChunks.bytesBeforeData(nil)))
          return PNGChunks.finish(
            file, .rgb8, width: image.width, height: image.height, dataBytes: bytes, color: nil,
            notes: [])
        }
      })
    return Array(file[..<count])
  }
}

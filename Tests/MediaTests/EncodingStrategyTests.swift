@testable import Core
import TestSupport
import Testing

@testable import Media

@Suite("Choosing how a picture is written")
struct EncodingStrategyTests {
  /// A picture made for each way.
  struct Case: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var image: ColorImage
    /// The filter of even rows for gray matches; `nil` for literals.
    var fast: ScanlineFilter?
    var compact: ScanlineFilter?
  }

  static let cases = [
    // What Sub does not predict, Paeth and Up do.
    Case(
      testDescription: "colors change from left to right",
      image: picture { x, _, noise in video(color: x / 2, noise) }, fast: .paeth,
      compact: .up),
    Case(
      testDescription: "colors change from top to bottom",
      image: picture { _, y, noise in video(color: y / 2, noise) }, fast: .sub,
      compact: .sub),
    Case(
      testDescription: "the same, overexposed",
      image: picture { _, y, noise in video(color: y / 2, noise, brightness: 225) },
      fast: .sub, compact: .sub),
    Case(
      testDescription: "noise in all channels",
      image: picture { _, _, noise in
        (0..<3).map { UInt8(truncatingIfNeeded: noise >> (8 * $0)) }
      }, fast: nil, compact: .up),
    Case(
      testDescription: "one color", image: picture { _, _, _ in [9, 9, 9] }, fast: nil,
      compact: nil),
    Case(
      testDescription: "too small to look at",
      image: VideoContent.plain.picture(width: 60, height: 60), fast: nil, compact: .up),
  ]

  @Test("The strategy is the one that the picture is made for", arguments: cases)
  func way(_ example: Case) {
    var choice = EncodingStrategy(.compact)
    #expect((example.image.withLines { choice.fastFilter(of: &$0) } ?? nil) == example.fast)
    #expect((example.image.withLines { choice.compactFilter(of: &$0) } ?? nil) == example.compact)
  }

  @Test("Bits are estimated within a sixth of what is written")
  func estimates() throws {
    for example in Self.cases {
      guard let filter = example.fast else { continue }
      let image = example.image
      var choice = EncodingStrategy(.fast)
      let estimated = try #require(
        image.withLines { choice.estimates(of: &$0) }?.first { $0.evenFilter == filter })
      var deflate = GrayDeflate()
      let written = try GrayDeflateTests.file(image, filter, &deflate).count * 8 * 1024
      let bits = written / (image.width * image.height)
      #expect(abs(estimated.bits - bits) * 6 < bits, "\(example.testDescription)")
    }
  }

  /// A pixel with the noise of a sensor, in one of many colors.
  private static func video(color: Int, _ noise: UInt64, brightness: Int = 120) -> [UInt8] {
    var random = SeededGenerator(seed: UInt64(color))
    let luma = brightness + Int(noise % 7) + Int((noise >> 8) % 5)
    return (0..<3).map { _ in UInt8(clamping: luma + Int(random.next() % 50) - 25) }
  }

  private static func picture(_ pixel: (Int, Int, UInt64) -> [UInt8]) -> ColorImage {
    var random = SeededGenerator(seed: 7)
    let (width, height) = (400, 200)
    var rgb: [UInt8] = []
    for y in 0..<height {
      for x in 0..<width { rgb += pixel(x, y, random.next()) }
    }
    return ColorImage(width: width, height: height, rgb: rgb)
  }
}

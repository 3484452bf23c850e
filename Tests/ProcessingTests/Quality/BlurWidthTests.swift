import Foundation
@testable import Processing
import Testing

@Suite("How wide a picture is blurred, and which pictures repeat another")
struct BlurWidthTests {
  private static let (width, height) = (320, 120)

  /// Numbers in 0..<1, the same in every run.
  private struct Sequence {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }
    mutating func next() -> Double {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Double(state >> 33) / Double(1 << 31)
    }
  }

  /// Steps of brightness at irregular places, blurred by a Gaussian.
  private static func steps(_ count: Int, sigma: Double, _ seed: UInt64) -> [Double] {
    var sequence = Sequence(seed)
    var sharp: [Double] = []
    while sharp.count < count + 40 {
      let level = 60 * sequence.next() - 30
      sharp += [Double](repeating: level, count: 3 + Int(sequence.next() * 18))
    }
    guard sigma > 0 else { return Array(sharp[20..<20 + count]) }
    let weights = (-20...20).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
    let sum = weights.reduce(0, +)
    return (20..<20 + count).map { at in
      weights.indices.reduce(0) { $0 + weights[$1] * sharp[min(at + $1 - 20, sharp.count - 1)] }
        / sum
    }
  }

  /// A picture of crossing steps with noise of so many levels.
  private static func picture(
    across: Double, down: Double, contrast: Double = 1, noise: Double = 0, seed: UInt64 = 1,
    shift: Int = 0
  ) throws -> PictureMeasure {
    let columns = steps(width + shift, sigma: across, 31).suffix(width).map { $0 * contrast }
    let rows = steps(height, sigma: down, 47).map { $0 * contrast }
    var sequence = Sequence(seed)
    var rgb: [UInt8] = []
    rgb.reserveCapacity(3 * width * height)
    for row in rows {
      for column in columns {
        var level = 110 + column + row
        if noise > 0 {
          // The sum of four has a deviation of √(4/12).
          let sum =
            sequence.next() + sequence.next() + sequence.next() + sequence.next() - 2
          level += noise * sum / 0.577
        }
        let byte = UInt8(min(max(level.rounded(), 0), 255))
        rgb += [byte, byte, byte]
      }
    }
    return try #require(PictureMeasure(rgb: rgb, width: width, height: height))
  }

  private static func pixels(_ measure: PictureMeasure) throws -> Double {
    guard case .pixels(let width) = measure.blurWidth else {
      throw Unexpected(description: "\(measure.blurWidth)")
    }
    return width
  }

  private struct Unexpected: Error, CustomStringConvertible { var description: String }

  @Test(
    "It is that of the blur, whatever the noise, so that a soft picture is told from a blurred one",
    arguments: [
      (0.0, 0.0..<1.8), (0.4, 0.0..<1.8), (0.75, 1.7..<2.6), (1.125, 2.6..<4.2), (2.0, 5.0..<11),
      (4.0, 5.0..<18),
    ])
  func width(sigma: Double, expected: Range<Double>) throws {
    // A pixel of this picture is 1,920 / 720 of those in which the width is told.
    for noise in [0.0, 3, 6] {
      let found = try Self.pixels(Self.picture(across: sigma, down: sigma, noise: noise))
      #expect(expected.contains(found), "noise \(noise): \(found)")
    }
  }

  @Test("The more blurred direction counts, as of a camera that moved")
  func direction() throws {
    for (across, down) in [(2.0, 0.0), (0, 2)] {
      #expect(try Self.pixels(Self.picture(across: across, down: down)) > 2.6)
    }
  }

  @Test("Where there is too little to see, or too much noise, nothing is told")
  func unknown() throws {
    #expect(
      try Self.picture(across: 0, down: 0, contrast: 0).blurWidth == .unknown(.flat))
    #expect(
      try Self.picture(across: 0, down: 0, contrast: 0, noise: 3).blurWidth == .unknown(.flat))
    #expect(
      try Self.picture(across: 2, down: 2, contrast: 0.25, noise: 9).blurWidth
        == .unknown(.noise))
    let tiny = [UInt8](repeating: 90, count: 8 * 8 * 3)
    #expect(PictureMeasure(rgb: tiny, width: 8, height: 8)?.blurWidth == .unknown(.flat))
  }

  @Test("Cells of tables give back what they were made of, other text nothing")
  func cells() throws {
    for width in [BlurWidth.pixels(2.375), .unknown(.flat), .unknown(.noise)] {
      #expect(BlurWidth(text: width.text) == width)
    }
    for text in ["", "-1", "nan", "blurred"] { #expect(BlurWidth(text: text) == nil) }
    let fingerprint = try Self.picture(across: 0, down: 0).fingerprint
    #expect(PictureFingerprint(text: fingerprint.text) == fingerprint)
    for text in ["", "12", String(repeating: "g", count: 128)] {
      #expect(PictureFingerprint(text: text) == nil)
    }
  }

  @Test(
    "Fingerprints of two pictures differ by about as much as the pictures", arguments: [1.0, 4])
  func change(noise: Double) throws {
    let plain = try Self.picture(across: 1, down: 1)
    let noisy = try Self.picture(across: 1, down: 1, noise: noise)
    let change = plain.fingerprint.change(to: noisy.fingerprint)
    #expect(change > 0.7 * noise && change < 1.4 * noise, "\(change)")
    #expect(plain.fingerprint.change(to: plain.fingerprint) == 0)
  }

  @Test(
    "A picture that an encoder altered a little repeats the one before; one at rest, an even one and the next view do not"
  )
  func repeats() throws {
    func frame(
      shift: Int = 0, noise: Double = 0, _ seed: UInt64 = 1, contrast: Double = 1,
      turned: Double? = nil
    ) throws -> FrameQuality {
      var frame = FrameQuality()
      frame.picture = try Self.picture(
        across: 1, down: 1, contrast: contrast, noise: noise, seed: seed, shift: shift)
      frame.poseDegrees = turned
      return frame
    }
    func repeated(_ frames: [FrameQuality]) -> [Int?] {
      var frames = frames
      RepeatedPictures.find(&frames)
      return frames.map(\.duplicateOf)
    }
    // A camera that froze twice: what an encoder leaves is like noise of a few tenths.
    let frozen = try [
      frame(), frame(noise: 0.4, 2), frame(noise: 0.4, 3), frame(shift: 9),
      frame(shift: 9, noise: 0.4, 4), frame(shift: 20),
    ]
    #expect(repeated(frozen) == [nil, 0, 0, nil, 3, nil])
    // All the time: only poses tell that it should not have.
    let turns: [(Double?, [Int?])] = [
      (nil, [nil, nil, nil]), (0.001, [nil, nil, nil]), (0.1, [nil, 0, 0]),
    ]
    for (turned, expected) in turns {
      let still = try (0..<3).map {
        try frame(noise: 0.1, UInt64($0 + 1), turned: $0 == 0 ? nil : turned)
      }
      #expect(repeated(still) == expected, "\(String(describing: turned))")
    }
    // Exactly the same picture, at any distance.
    #expect(try repeated([frame(), frame(shift: 9), frame()]) == [nil, nil, 0])
    // Even pictures are all alike.
    let even = try (0..<3).map { _ in try frame(contrast: 0, turned: 1) }
    #expect(repeated(even) == [nil, nil, nil])
  }
}

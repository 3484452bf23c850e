@testable import Core
@testable import Processing
import TestSupport
import Testing

@Suite("Depth filters")
struct DepthFilterTests {
  static let width = 37
  static let height = 23

  /// Surfaces with steps, holes and pixels in between.
  static func frame(seed: UInt64) -> DepthImage {
    var random = SeededGenerator(seed: seed)
    var image = DepthImage(width: width, height: height)
    for index in image.millimeters.indices {
      let base: UInt16 = (index % width) / 9 % 2 == 0 ? 1000 : 1900
      image.millimeters[index] =
        switch UInt8.random(in: 0..<10, using: &random) {
        case 0: 0
        case 1: .random(in: 0...3000, using: &random)
        default: base + .random(in: 0...40, using: &random)
        }
    }
    return image
  }

  static func confidence(seed: UInt64) -> GrayImage {
    var random = SeededGenerator(seed: seed)
    let values = (0..<width * height).map { _ in UInt8.random(in: 0...255, using: &random) }
    return GrayImage(width: width, height: height, values: values)
  }

  static func filtered(
    _ filters: DepthFilters, _ frame: DepthImage, confidence: GrayImage? = nil,
    previous: DepthImage? = nil
  ) throws -> DepthImage {
    var output = DepthImage(width: 0, height: 0)
    try filters.apply(to: frame, confidence: confidence, previous: previous, into: &output)
    return output
  }

  /// What a filter must do, pixel by pixel: `stays` gets column, row and value.
  static func reference(_ frame: DepthImage, _ stays: (Int, Int, Int) -> Bool) -> DepthImage {
    var output = frame
    for (index, z) in frame.millimeters.enumerated()
    where !stays(index % frame.width, index / frame.width, Int(z)) {
      output.millimeters[index] = 0
    }
    return output
  }

  static func value(_ frame: DepthImage, _ x: Int, _ y: Int) -> Int? {
    guard x >= 0, y >= 0, x < frame.width, y < frame.height else { return nil }
    let z = Int(frame.millimeters[y * frame.width + x])
    return z == 0 ? nil : z
  }

  @Test("Without filters a frame stays as it is")
  func off() throws {
    #expect(DepthFilters().isEmpty)
    let frame = Self.frame(seed: 1)
    #expect(
      try Self.filtered(
        DepthFilters(), frame, confidence: Self.confidence(seed: 2),
        previous: Self.frame(seed: 3)) == frame)
  }

  @Test("Pixels below the minimum confidence go", arguments: [-1, 0, 1, 2, 127, 255, 256])
  func minimumConfidence(minimum: Int) throws {
    let frame = Self.frame(seed: 4)
    let confidence = Self.confidence(seed: 5)
    let expected = Self.reference(frame) { x, y, _ in
      Int(confidence.values[y * Self.width + x]) >= minimum
    }
    let filters = DepthFilters(minimumConfidence: minimum)
    #expect(!filters.isEmpty)
    #expect(try Self.filtered(filters, frame, confidence: confidence) == expected)
  }

  @Test(
    "Pixels outside the range go, both ends stay",
    arguments: [1000.0...1900, 999.5...1003.5, 0...0])
  func range(range: ClosedRange<Double>) throws {
    let frame = Self.frame(seed: 6)
    let expected = Self.reference(frame) { _, _, z in
      Double(z) >= range.lowerBound && Double(z) <= range.upperBound
    }
    #expect(try Self.filtered(DepthFilters(range: range), frame) == expected)
  }

  @Test("Pixels that changed by more than the limit go", arguments: [0, 1, 20, 20.5, 900, 1e9])
  func maximumChange(limit: Double) throws {
    let frame = Self.frame(seed: 7)
    let previous = Self.frame(seed: 8)
    let expected = Self.reference(frame) { x, y, z in
      guard let before = Self.value(previous, x, y) else { return true }
      return Double(max(z, before) - min(z, before)) <= limit
    }
    let filters = DepthFilters(maximumChange: limit)
    #expect(try Self.filtered(filters, frame, previous: previous) == expected)
    // The first frame has changed against nothing.
    #expect(try Self.filtered(filters, frame) == frame)
  }

  @Test("Flying pixels go", arguments: [(10, 0.05), (0, 0), (100, 0.2)] as [(Double, Double)])
  func flyingPixels(absolute: Double, relative: Double) throws {
    let frame = Self.frame(seed: 9)
    func isStep(_ a: Int, _ b: Int) -> Bool {
      Double(abs(a - b)) > absolute + relative * Double(min(a, b))
    }
    let expected = Self.reference(frame) { x, y, z in
      for (dx, dy) in [(1, 0), (0, 1)] {
        guard let a = Self.value(frame, x - dx, y - dy), let b = Self.value(frame, x + dx, y + dy)
        else { continue }
        let isBetween = (a < z && z < b) || (b < z && z < a)
        if isBetween, isStep(a, z), isStep(z, b) { return false }
      }
      return true
    }
    #expect(expected != frame)
    let filters = DepthFilters(
      flyingPixels: FlyingPixels(absolute: absolute, relative: relative))
    #expect(try Self.filtered(filters, frame) == expected)
  }

  @Test("An outline's in-between pixels go; slants, thin objects and holes stay")
  func flyingPixelExamples() throws {
    for (row, expected) in [
      ([1000, 1000, 1500, 2000, 2000], [1000, 1000, 0, 2000, 2000]),
      ([1000, 1300, 1700, 2000, 2000], [1000, 0, 0, 2000, 2000]),
      ([1000, 1050, 1100, 1150, 1200], [1000, 1050, 1100, 1150, 1200]),
      ([2000, 2000, 1000, 2000, 2000], [2000, 2000, 1000, 2000, 2000]),
      ([1000, 1000, 2000, 1000, 1000], [1000, 1000, 2000, 1000, 1000]),
      ([1000, 0, 1500, 2000, 2000], [1000, 0, 1500, 2000, 2000]),
      ([1500, 2000, 2000, 2000, 1500], [1500, 2000, 2000, 2000, 1500]),
    ] as [([UInt16], [UInt16])] {
      let filters = DepthFilters(flyingPixels: FlyingPixels())
      let across = try Self.filtered(
        filters, DepthImage(width: 5, height: 1, millimeters: row))
      #expect(across.millimeters == expected)
      let down = try Self.filtered(filters, DepthImage(width: 1, height: 5, millimeters: row))
      #expect(down.millimeters == expected)
    }
  }

  @Test("Together, every filter judges the frame as it was stored")
  func together() throws {
    let frame = Self.frame(seed: 10)
    let confidence = Self.confidence(seed: 11)
    let previous = Self.frame(seed: 12)
    let all = DepthFilters(
      minimumConfidence: 40, maximumChange: 300, range: 500...2500, flyingPixels: FlyingPixels())
    var expected = frame
    for one in [
      DepthFilters(minimumConfidence: 40), DepthFilters(maximumChange: 300),
      DepthFilters(range: 500...2500), DepthFilters(flyingPixels: FlyingPixels()),
    ] {
      let alone = try Self.filtered(one, frame, confidence: confidence, previous: previous)
      #expect(alone != frame)
      for index in alone.millimeters.indices where alone.millimeters[index] == 0 {
        expected.millimeters[index] = 0
      }
    }
    #expect(
      try Self.filtered(all, frame, confidence: confidence, previous: previous) == expected)
  }

  @Test("Pictures of another size and missing confidence are errors")
  func errors() throws {
    let frame = Self.frame(seed: 13)
    let small = DepthImage(width: 2, height: 2)
    #expect(throws: DepthFilterError.missingConfidence) {
      try Self.filtered(DepthFilters(minimumConfidence: 1), frame)
    }
    let sizes = DepthFilterError.sizeMismatch(
      depth: PictureSize(width: Self.width, height: Self.height),
      other: PictureSize(width: 2, height: 2))
    #expect(throws: sizes) {
      try Self.filtered(
        DepthFilters(minimumConfidence: 1), frame,
        confidence: GrayImage(width: 2, height: 2, values: [0, 0, 0, 0]))
    }
    #expect(throws: sizes) {
      try Self.filtered(DepthFilters(maximumChange: 1), frame, previous: small)
    }
  }
}

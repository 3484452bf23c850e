import Core

/// Colors for depth: near is red, far is blue, no measurement is black.
///
/// The curve is Turbo, a rainbow of perceptually even steps, as the fifth-degree polynomial
/// published by A. Mikhailov (Google, 2019; Apache 2.0), without its darkest ends, which could be
/// taken for black.
public struct FalseColor: Sendable {
  /// Depths in millimeters that get the first and the last color.
  let nearMillimeters: Double
  let farMillimeters: Double

  /// Colors of 1,024 evenly spaced depths, nearest first.
  private let table: [PixelColor]

  /// `far` is raised to at least 1 mm more than `near`.
  init(nearMillimeters near: Double, farMillimeters far: Double) {
    nearMillimeters = near
    farMillimeters = max(far, near + 1)
    table = (0..<1024).map { Self.turbo(0.96 - 0.88 * Double($0) / 1023) }
  }

  /// The range from the 2nd to the 98th percentile of some depth pictures, widened to whole 100 mm;
  /// 0 to 1 m if nothing is measured.
  public init(of pictures: [DepthImage]) {
    var depths = DepthHistogram()
    for picture in pictures { depths.add(picture) }
    func value(atShare share: Double) -> Double? {
      depths.millimeters(atShare: share).map(Double.init)
    }
    self.init(
      nearMillimeters: ((value(atShare: 0.02) ?? 0) / 100).rounded(.down) * 100,
      farMillimeters: ((value(atShare: 0.98) ?? 1000) / 100).rounded(.up) * 100)
  }

  /// The color of a depth; 0 (no measurement) is black, values outside the range get its end
  /// colors.
  package func color(ofMillimeters depth: UInt16) -> PixelColor {
    guard depth > 0 else { return .black }
    let share = (Double(depth) - nearMillimeters) / (farMillimeters - nearMillimeters)
    return table[Int(min(max(share, 0), 1) * 1023)]
  }

  /// Millimeters between contours: 1, 2 or 5 times a power of ten, so that at most 20 contours lie
  /// in the range.
  var contourMillimeters: Int {
    let least = (farMillimeters - nearMillimeters) / 20
    var step = 10
    for factor in [2.0, 2.5, 2.0, 2.0, 2.5, 2.0, 2.0, 2.5, 2.0, 2.0, 2.5, 2.0] {
      if Double(step) >= least { break }
      step = Int(Double(step) * factor)
    }
    return step
  }

  static func turbo(_ x: Double) -> PixelColor {
    func channel(_ c: [Double]) -> UInt8 {
      let value = c.reversed().reduce(0) { $0 * x + $1 }
      return UInt8((min(max(value, 0), 1) * 255).rounded())
    }
    return PixelColor(
      channel([0.13572138, 4.61539260, -42.66032258, 132.13108234, -152.94239396, 59.28637943]),
      channel([0.09140261, 2.19418839, 4.84296658, -14.18503333, 4.27729857, 2.82956604]),
      channel([0.10667330, 12.64194608, -60.58204836, 110.36276771, -89.90310912, 27.34824973]))
  }
}

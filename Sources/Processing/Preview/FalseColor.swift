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

extension FalseColor {
  /// Height of the scale in pixels: a margin, digits, a gap, the bar, a margin.
  static func scaleHeight(width: Int) -> Int {
    (4 + PictureFont.height + 3 + 8 + 6) * factor(width)
  }

  /// Integer magnification relative to the smallest size.
  private static func factor(_ width: Int) -> Int { max(1, width / 320) }

  /// The legend of the contours: `contours every 0.10 m`.
  var contourText: String {
    "contours every " + (Double(contourMillimeters) / 1000).fixed(2) + " m"
  }

  /// Draws the scale, with meters written above it, `width` pixels wide with its top left corner at (x, y).
  func drawScale(into picture: inout ColorImage, x left: Int, y top: Int, width: Int) {
    let factor = Self.factor(width)
    let margin = 8 * factor
    let barTop = top + (4 + PictureFont.height + 3) * factor
    let barWidth = width - 2 * margin
    guard barWidth > 0 else { return }
    let span = farMillimeters - nearMillimeters
    for x in 0..<barWidth {
      let depth = nearMillimeters + span * Double(x) / Double(max(1, barWidth - 1))
      picture.fill(
        x: left + margin + x, y: barTop, width: 1, height: 8 * factor,
        color(ofMillimeters: UInt16(min(max(depth.rounded(), 1), 65_535))))
    }
    // As many as fit without touching.
    let ticks = width >= 160 ? 4 : 2
    for tick in 0...ticks {
      let meters = (nearMillimeters + span * Double(tick) / Double(ticks)) / 1000
      let text = meters.fixed(2) + " m"
      let textWidth = PictureFont.width(of: text, scale: factor)
      let center = left + margin + barWidth * tick / ticks
      let x = min(
        max(center - textWidth / 2, left + margin), left + margin + barWidth - textWidth)
      PictureFont.draw(text, into: &picture, x: x, y: top + 4 * factor, scale: factor)
    }
  }
}

extension Double {
  /// The number as pictures show it, with this many decimals, ties away from zero; huge values as `9999999…`.
  package func fixed(_ digits: Int) -> String {
    let power = [1, 10, 100, 1000][Swift.min(Swift.max(digits, 0), 3)]
    let finite = isFinite ? Swift.min(Swift.max(self, -1e9), 1e9) : 0
    let scaled = Int((finite * Double(power)).rounded())
    let sign = scaled < 0 ? "-" : ""
    let whole = abs(scaled) / power
    guard power > 1 else { return sign + "\(whole)" }
    return sign + "\(whole)." + (abs(scaled) % power).padded(digits)
  }
}

/// How many pixels of some depth pictures have each depth. Holes, which are 0, are not measurements.
package struct DepthHistogram: Sendable {
  /// What one picture holds. Distances are millimeters, `nil` without any measurement.
  package struct Picture: Sendable {
    package var measured: Int
    package var nearest: Int?
    package var farthest: Int?
  }

  /// Pixels by millimeters, 65,536 of them; the first is always 0.
  private(set) package var counts = [Int](repeating: 0, count: 65_536)
  /// Sum of `counts`.
  private(set) package var measured = 0

  package init() {}

  /// Cost: one pass over the pixels.
  @discardableResult package mutating func add(_ picture: DepthImage) -> Picture {
    var holes = 0
    var (nearest, farthest) = (UInt16.max, UInt16.min)
    for value in picture.millimeters {
      counts[Int(value)] += 1
      if value == 0 {
        holes += 1
      } else {
        nearest = min(nearest, value)
        farthest = max(farthest, value)
      }
    }
    counts[0] = 0
    let count = picture.millimeters.count - holes
    measured += count
    return Picture(
      measured: count, nearest: count == 0 ? nil : Int(nearest),
      farthest: count == 0 ? nil : Int(farthest))
  }

  /// The depth in millimeters below which `share`, 0 to 1, of the measurements lie; `nil` without
  /// any.
  package func millimeters(atShare share: Double) -> Int? {
    guard measured > 0 else { return nil }
    var rest = Int(Double(measured) * min(max(share, 0), 1))
    for (value, count) in counts.enumerated() where count > 0 {
      rest -= count
      if rest < 0 { return value }
    }
    return counts.lastIndex { $0 > 0 }
  }
}

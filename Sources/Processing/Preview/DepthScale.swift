import Core

/// Draws the scale of false colors, with meters written above it.
enum DepthScale {
  /// Height in pixels: a margin, digits, a gap, the bar, a margin.
  static func height(width: Int) -> Int {
    (4 + PictureFont.height + 3 + 8 + 6) * factor(width)
  }

  /// Integer magnification relative to the smallest size.
  private static func factor(_ width: Int) -> Int { max(1, width / 320) }

  /// The legend of the contours: `contours every 0.10 m`.
  static func contourText(_ colors: FalseColor) -> String {
    "contours every " + PictureNumber.fixed(Double(colors.contourMillimeters) / 1000, 2) + " m"
  }

  /// Draws the scale `width` pixels wide with its top left corner at (x, y).
  static func draw(
    _ colors: FalseColor, into picture: inout ColorImage, x left: Int, y top: Int, width: Int
  ) {
    let factor = factor(width)
    let margin = 8 * factor
    let barTop = top + (4 + PictureFont.height + 3) * factor
    let barWidth = width - 2 * margin
    guard barWidth > 0 else { return }
    let span = colors.farMillimeters - colors.nearMillimeters
    for x in 0..<barWidth {
      let depth = colors.nearMillimeters + span * Double(x) / Double(max(1, barWidth - 1))
      picture.fill(
        x: left + margin + x, y: barTop, width: 1, height: 8 * factor,
        colors.color(ofMillimeters: UInt16(min(max(depth.rounded(), 1), 65_535))))
    }
    // As many as fit without touching.
    let ticks = width >= 160 ? 4 : 2
    for tick in 0...ticks {
      let meters = (colors.nearMillimeters + span * Double(tick) / Double(ticks)) / 1000
      let text = PictureNumber.fixed(meters, 2) + " m"
      let textWidth = PictureFont.width(of: text, scale: factor)
      let center = left + margin + barWidth * tick / ticks
      let x = min(
        max(center - textWidth / 2, left + margin), left + margin + barWidth - textWidth)
      PictureFont.draw(text, into: &picture, x: x, y: top + 4 * factor, scale: factor)
    }
  }
}

/// Formats numbers for pictures.
package enum PictureNumber {
  /// A number with this many decimals, ties away from zero; huge values as `9999999…`.
  package static func fixed(_ value: Double, _ digits: Int) -> String {
    let power = [1, 10, 100, 1000][min(max(digits, 0), 3)]
    let finite = value.isFinite ? min(max(value, -1e9), 1e9) : 0
    let scaled = Int((finite * Double(power)).rounded())
    let sign = scaled < 0 ? "-" : ""
    let whole = abs(scaled) / power
    guard power > 1 else { return sign + "\(whole)" }
    let rest = String(abs(scaled) % power)
    return sign + "\(whole)." + String(repeating: "0", count: max(0, digits - rest.count)) + rest
  }
}

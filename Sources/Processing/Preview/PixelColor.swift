import Core

/// An 8-bit RGB color.
package struct PixelColor: Hashable, Sendable {
  package var red: UInt8
  package var green: UInt8
  package var blue: UInt8

  init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
    (self.red, self.green, self.blue) = (red, green, blue)
  }

  static let white = PixelColor(255, 255, 255)
  static let black = PixelColor(0, 0, 0)

  /// A mix of `share`/256 of `other` and the rest of this color.
  func mixed(with other: PixelColor, share: Int) -> PixelColor {
    func mix(_ a: UInt8, _ b: UInt8) -> UInt8 {
      UInt8((Int(a) * (256 - share) + Int(b) * share) >> 8)
    }
    return PixelColor(mix(red, other.red), mix(green, other.green), mix(blue, other.blue))
  }
}

extension ColorImage {
  init(width: Int, height: Int, filled color: PixelColor) {
    self.init(width: width, height: height)
    fill(x: 0, y: 0, width: width, height: height, color)
  }

  /// The color of pixel number `index`, row by row.
  subscript(pixel index: Int) -> PixelColor {
    get { PixelColor(rgb[3 * index], rgb[3 * index + 1], rgb[3 * index + 2]) }
    set {
      rgb[3 * index] = newValue.red
      rgb[3 * index + 1] = newValue.green
      rgb[3 * index + 2] = newValue.blue
    }
  }

  /// Fills a rectangle; parts outside the picture are cut off.
  mutating func fill(
    x: Int, y: Int, width boxWidth: Int, height boxHeight: Int, _ color: PixelColor
  ) {
    for row in max(0, y)..<max(0, y, min(height, y + boxHeight)) {
      for column in max(0, x)..<max(0, x, min(width, x + boxWidth)) {
        self[pixel: row * width + column] = color
      }
    }
  }

  /// Draws a picture with its top left corner at (x, y) ≥ 0; parts outside are cut off.
  mutating func put(_ picture: ColorImage, x: Int, y: Int) {
    let columns = min(picture.width, width - x)
    guard columns > 0, x >= 0, y >= 0 else { return }
    for row in 0..<max(0, min(picture.height, height - y)) {
      let source = row * picture.width * 3
      let target = ((y + row) * width + x) * 3
      rgb.replaceSubrange(
        target..<target + columns * 3, with: picture.rgb[source..<source + columns * 3])
    }
  }
}

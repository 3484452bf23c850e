import Geometry

/// Just enough letters for a scale bar: digits and `m`, five by seven pixels.
enum DigitFont {
  static let width = 5
  static let height = 7

  /// Rows from the top, the highest of five bits on the left.
  private static let glyphs: [Character: [UInt8]] = [
    "0": [14, 17, 19, 21, 25, 17, 14], "1": [4, 12, 4, 4, 4, 4, 14],
    "2": [14, 17, 1, 6, 8, 16, 31], "3": [31, 2, 4, 2, 1, 17, 14],
    "4": [2, 6, 10, 18, 31, 2, 2], "5": [31, 16, 30, 1, 1, 17, 14],
    "6": [6, 8, 16, 30, 17, 17, 14], "7": [31, 1, 2, 4, 8, 8, 8],
    "8": [14, 17, 17, 14, 17, 17, 14], "9": [14, 17, 17, 15, 1, 2, 12],
    "m": [0, 0, 26, 21, 21, 21, 21],
  ]

  /// Pixels that `text` takes in a row.
  static func width(of text: String, scale: Int) -> Int { text.count * (width + 1) * scale }

  /// Draws white text with its top left corner at (x, y); what lies outside is cut off.
  static func draw(_ text: String, into image: inout ColorImage, x: Int, y: Int, scale: Int) {
    for (position, letter) in text.enumerated() {
      guard let rows = glyphs[letter] else { continue }
      let left = x + position * (width + 1) * scale
      for (row, bits) in rows.enumerated() {
        for column in 0..<width where bits >> UInt8(width - 1 - column) & 1 == 1 {
          image.fill(
            x: left + column * scale, y: y + row * scale, width: scale, height: scale,
            (255, 255, 255))
        }
      }
    }
  }
}

extension ColorImage {
  /// Paints a rectangle; what lies outside of the picture is cut off.
  mutating func fill(
    x: Int, y: Int, width boxWidth: Int, height boxHeight: Int,
    _ color: (red: UInt8, green: UInt8, blue: UInt8)
  ) {
    for row in max(0, y)..<max(0, y, min(height, y + boxHeight)) {
      for column in max(0, x)..<max(0, x, min(width, x + boxWidth)) {
        let index = (row * width + column) * 3
        rgb[index] = color.red
        rgb[index + 1] = color.green
        rgb[index + 2] = color.blue
      }
    }
  }
}

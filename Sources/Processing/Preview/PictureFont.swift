import Core

/// A bitmap font for pictures: printable ASCII, `²` and `×`, five by eight pixels, the lowest row
/// for descenders. Drawn by hand for this project, under its license.
package enum PictureFont {
  static let width = 5
  static let height = 8
  /// Distance in pixels from one letter to the next.
  static let advance = 6

  /// Width of `text` in pixels.
  package static func width(of text: String, scale: Int = 1) -> Int {
    text.count * advance * scale
  }

  /// The beginning of `text` that fits `pixels`; ends with `~` if cut.
  static func fitting(_ text: String, pixels: Int, scale: Int = 1) -> String {
    let most = max(1, pixels / (advance * scale))
    return text.count <= most ? text : text.prefix(most - 1) + "~"
  }

  /// Draws text with its top left corner at (x, y). Parts outside the picture are cut off; letters
  /// that the font lacks are drawn as question marks.
  static func draw(
    _ text: String, into image: inout ColorImage, x: Int, y: Int, scale: Int = 1,
    _ color: PixelColor = .white
  ) {
    for (position, letter) in text.enumerated() {
      if letter == " " { continue }
      let rows = glyphs[letter] ?? glyphs["?"] ?? []
      let left = x + position * advance * scale
      for (row, bits) in rows.enumerated() {
        for column in 0..<width where bits >> UInt8(width - 1 - column) & 1 == 1 {
          image.fill(
            x: left + column * scale, y: y + row * scale, width: scale, height: scale, color)
        }
      }
    }
  }

  /// Rows from the top; the highest of five bits is the leftmost pixel.
  private static let glyphs: [Character: [UInt8]] = [
    "0": [14, 17, 19, 21, 25, 17, 14], "1": [4, 12, 4, 4, 4, 4, 14],
    "2": [14, 17, 1, 6, 8, 16, 31], "3": [31, 2, 4, 2, 1, 17, 14],
    "4": [2, 6, 10, 18, 31, 2, 2], "5": [31, 16, 30, 1, 1, 17, 14],
    "6": [6, 8, 16, 30, 17, 17, 14], "7": [31, 1, 2, 4, 8, 8, 8],
    "8": [14, 17, 17, 14, 17, 17, 14], "9": [14, 17, 17, 15, 1, 2, 12],
    "A": [14, 17, 17, 31, 17, 17, 17], "B": [30, 17, 17, 30, 17, 17, 30],
    "C": [14, 17, 16, 16, 16, 17, 14], "D": [28, 18, 17, 17, 17, 18, 28],
    "E": [31, 16, 16, 30, 16, 16, 31], "F": [31, 16, 16, 30, 16, 16, 16],
    "G": [14, 17, 16, 23, 17, 17, 15], "H": [17, 17, 17, 31, 17, 17, 17],
    "I": [14, 4, 4, 4, 4, 4, 14], "J": [7, 2, 2, 2, 2, 18, 12],
    "K": [17, 18, 20, 24, 20, 18, 17], "L": [16, 16, 16, 16, 16, 16, 31],
    "M": [17, 27, 21, 21, 17, 17, 17], "N": [17, 17, 25, 21, 19, 17, 17],
    "O": [14, 17, 17, 17, 17, 17, 14], "P": [30, 17, 17, 30, 16, 16, 16],
    "Q": [14, 17, 17, 17, 21, 18, 13], "R": [30, 17, 17, 30, 20, 18, 17],
    "S": [15, 16, 16, 14, 1, 1, 30], "T": [31, 4, 4, 4, 4, 4, 4],
    "U": [17, 17, 17, 17, 17, 17, 14], "V": [17, 17, 17, 17, 17, 10, 4],
    "W": [17, 17, 17, 21, 21, 21, 10], "X": [17, 17, 10, 4, 10, 17, 17],
    "Y": [17, 17, 17, 10, 4, 4, 4], "Z": [31, 1, 2, 4, 8, 16, 31],
    "a": [0, 0, 14, 1, 15, 17, 15], "b": [16, 16, 22, 25, 17, 17, 30],
    "c": [0, 0, 14, 17, 16, 17, 14], "d": [1, 1, 13, 19, 17, 17, 15],
    "e": [0, 0, 14, 17, 31, 16, 14], "f": [6, 9, 8, 28, 8, 8, 8],
    "g": [0, 0, 15, 17, 17, 15, 1, 14], "h": [16, 16, 22, 25, 17, 17, 17],
    "i": [4, 0, 12, 4, 4, 4, 14], "j": [2, 0, 6, 2, 2, 2, 18, 12],
    "k": [16, 16, 18, 20, 24, 20, 18], "l": [12, 4, 4, 4, 4, 4, 14],
    "m": [0, 0, 26, 21, 21, 17, 17], "n": [0, 0, 22, 25, 17, 17, 17],
    "o": [0, 0, 14, 17, 17, 17, 14], "p": [0, 0, 30, 17, 17, 30, 16, 16],
    "q": [0, 0, 15, 17, 17, 15, 1, 1], "r": [0, 0, 22, 25, 16, 16, 16],
    "s": [0, 0, 15, 16, 14, 1, 30], "t": [8, 8, 28, 8, 8, 9, 6],
    "u": [0, 0, 17, 17, 17, 19, 13], "v": [0, 0, 17, 17, 17, 10, 4],
    "w": [0, 0, 17, 17, 21, 21, 10], "x": [0, 0, 17, 10, 4, 10, 17],
    "y": [0, 0, 17, 17, 17, 15, 1, 14], "z": [0, 0, 31, 2, 4, 8, 31],
    ".": [0, 0, 0, 0, 0, 12, 12], ",": [0, 0, 0, 0, 0, 12, 4, 8],
    ":": [0, 12, 12, 0, 12, 12], ";": [0, 12, 12, 0, 12, 4, 8],
    "-": [0, 0, 0, 31], "_": [0, 0, 0, 0, 0, 0, 31], "+": [0, 4, 4, 31, 4, 4],
    "=": [0, 0, 31, 0, 31], "/": [0, 1, 2, 4, 8, 16], "\\": [0, 16, 8, 4, 2, 1],
    "(": [2, 4, 8, 8, 8, 4, 2], ")": [8, 4, 2, 2, 2, 4, 8],
    "[": [14, 8, 8, 8, 8, 8, 14], "]": [14, 2, 2, 2, 2, 2, 14],
    "%": [24, 25, 2, 4, 8, 19, 3], "~": [0, 0, 8, 21, 2], "@": [14, 17, 1, 13, 21, 21, 14],
    "#": [10, 10, 31, 10, 31, 10, 10], "?": [14, 17, 1, 2, 4, 0, 4],
    "!": [4, 4, 4, 4, 4, 0, 4], "'": [4, 4, 8], "\"": [10, 10], "*": [0, 4, 21, 14, 21, 4],
    "&": [12, 18, 20, 8, 21, 18, 13], "$": [4, 15, 20, 14, 5, 30, 4],
    "<": [2, 4, 8, 16, 8, 4, 2], ">": [8, 4, 2, 1, 2, 4, 8], "^": [4, 10, 17],
    "|": [4, 4, 4, 4, 4, 4, 4], "{": [2, 4, 4, 8, 4, 4, 2], "}": [8, 4, 4, 2, 4, 4, 8],
    "`": [8, 4, 2], "²": [12, 2, 4, 14], "×": [0, 17, 10, 4, 10, 17],
  ]
}

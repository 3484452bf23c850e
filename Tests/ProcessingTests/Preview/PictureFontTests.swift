@testable import Core
@testable import Processing
import Testing

@Suite("Letters and numbers in pictures")
struct PictureFontTests {
  /// Pixels of a text in a picture of its own, row by row.
  private func drawn(_ text: String) -> ColorImage {
    var picture = ColorImage(width: max(1, PictureFont.width(of: text)), height: 8)
    PictureFont.draw(text, into: &picture, x: 0, y: 0)
    return picture
  }

  @Test(
    "Every printable ASCII character looks unlike every other; what is missing is a question mark")
  func letters() {
    var seen: [[UInt8]: Character] = [:]
    for code in UInt8(ascii: "!")...UInt8(ascii: "~") {
      let letter = Character(UnicodeScalar(code))
      let picture = drawn(String(letter)).rgb
      #expect(picture.contains(255), "\(letter) is empty")
      #expect(seen[picture] == nil, "\(letter) looks like \(seen[picture] ?? " ")")
      seen[picture] = letter
    }
    #expect(drawn("ü").rgb == drawn("?").rgb)
    #expect(drawn(" ").rgb.allSatisfy { $0 == 0 })
  }

  @Test("Text is cut where it does not fit, and pixels outside a picture are not drawn")
  func room() {
    #expect(PictureFont.fitting("abcdef", pixels: 36) == "abcdef")
    #expect(PictureFont.fitting("abcdef", pixels: 35) == "abcd~")
    #expect(PictureFont.fitting("abcdef", pixels: 24, scale: 2) == "a~")
    var picture = ColorImage(width: 3, height: 3)
    PictureFont.draw("WWW", into: &picture, x: -4, y: -3, scale: 3)
    PictureFont.draw("WWW", into: &picture, x: 100, y: 100)
    #expect(picture.rgb.count == 27)
  }

  @Test(
    "Numbers with a fixed count of digits",
    arguments: [
      (1.005, 2, "1.00"), (1.25, 1, "1.3"), (-0.04, 1, "0.0"), (-0.06, 1, "-0.1"), (12, 0, "12"),
      (0.03, 2, "0.03"), (.nan, 1, "0.0"), (.infinity, 0, "0"), (1e30, 0, "1000000000"),
    ])
  func numbers(value: Double, digits: Int, text: String) {
    #expect(PictureNumber.fixed(value, digits) == text)
  }
}

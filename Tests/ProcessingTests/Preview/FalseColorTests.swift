import Foundation
@testable import Core
@testable import Processing
import Testing

@Suite("Colors of depth")
struct FalseColorTests {
  /// Degrees from red over green to blue.
  private func hue(_ color: PixelColor) -> Double {
    let (r, g, b) = (Double(color.red), Double(color.green), Double(color.blue))
    let angle = atan2(sqrt(3) * (g - b), 2 * r - g - b) * 180 / .pi
    return angle < -30 ? angle + 360 : angle
  }

  @Test("Hue is monotone from near to far; values outside get the end colors, holes are black")
  func monotone() {
    let colors = FalseColor(nearMillimeters: 500, farMillimeters: 4500)
    let hues = stride(from: 500, through: 4500, by: 100).map {
      hue(colors.color(ofMillimeters: UInt16($0)))
    }
    for (near, far) in zip(hues, hues.dropFirst()) { #expect(near < far + 1.5) }
    #expect(hues[0] < 30 && (200...280).contains(hues[hues.count - 1]))
    #expect(colors.color(ofMillimeters: 1) == colors.color(ofMillimeters: 500))
    #expect(colors.color(ofMillimeters: 65_535) == colors.color(ofMillimeters: 4500))
    #expect(colors.color(ofMillimeters: 0) == .black)
    // Nothing that was measured is nearly black.
    for depth in stride(from: 1, through: 65_535, by: 61) {
      let color = colors.color(ofMillimeters: UInt16(depth))
      #expect(Int(color.red) + Int(color.green) + Int(color.blue) > 150)
    }
  }

  @Test("The range leaves out what is rare, and is there without a measurement, too")
  func range() {
    var values = Array(repeating: UInt16(1230), count: 500) + Array(repeating: 2870, count: 500)
    values += [1, 65_535, 0, 0]
    let image = DepthImage(width: values.count, height: 1, millimeters: values)
    let colors = FalseColor(of: [image])
    #expect(colors.nearMillimeters == 1200 && colors.farMillimeters == 2900)
    let nothing = FalseColor(of: [DepthImage(width: 3, height: 3)])
    #expect(nothing.nearMillimeters == 0 && nothing.farMillimeters == 1000)
    #expect(FalseColor(of: []).farMillimeters == 1000)
  }

  @Test(
    "Contours are 1, 2 or 5 times a power of ten millimeters apart, at most twenty in the range",
    arguments: [
      (100, 10), (300, 20), (1000, 50), (1700, 100), (4000, 200), (9000, 500), (60_000, 5000),
    ])
  func steps(range: Int, step: Int) {
    let colors = FalseColor(nearMillimeters: 400, farMillimeters: Double(400 + range))
    #expect(colors.contourMillimeters == step)
  }
}

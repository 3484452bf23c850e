import Foundation
import Testing

@testable import Core
@testable import Processing

@Suite("Frames as they are shown")
struct ShownFrameTests {
  private let most = (width: 60, height: 60)

  /// A slanted floor behind a board, on a grid of `width` × 3/4 `width`.
  private func depth(_ width: Int) -> DepthImage {
    var image = DepthImage(width: width, height: width * 3 / 4)
    for y in 0..<image.height {
      for x in 0..<width {
        let (u, v) = (Double(x) / Double(width), Double(y) / Double(image.height))
        let isBoard = (0.3..<0.6).contains(u) && (0.2..<0.7).contains(v)
        image.millimeters[y * width + x] = isBoard ? 1000 : UInt16(2000 + 1000 * v)
      }
    }
    return image
  }

  private func color(_ width: Int, _ height: Int) -> ColorImage {
    var image = ColorImage(width: width, height: height)
    for index in image.rgb.indices { image.rgb[index] = UInt8(100 + index * 7 % 50) }
    return image
  }

  @Test("The overlay has outlines where the board ends, and contours on the smooth floor")
  func overlay() throws {
    let frame = ShownFrame(
      color: color(60, 45), aligned: depth(60), depthWidth: 60, most: most)
    let colors = FalseColor(of: [depth(60)])
    let picture = try #require(frame.overlay(colors))
    func pixel(_ x: Int, _ y: Int) -> [UInt8] {
      let at = 3 * (y * picture.width + x)
      return Array(picture.rgb[at..<at + 3])
    }
    // The board's left and right ends: columns 18 and 35.
    for y in 12..<28 {
      #expect(pixel(18, y) == [255, 40, 200] && pixel(35, y) == [255, 40, 200])
      #expect(pixel(25, y) != [255, 40, 200] && pixel(17, y) != [255, 40, 200])
    }
    // The floor is 1 m deep from top to bottom: a contour per 0.1 m.
    let plain = try #require(frame.color)
    let strong = (0..<45).count { y in
      let at = 3 * (y * plain.width + 5)
      return (0..<3).reduce(0) { $0 + abs(Int(picture.rgb[at + $1]) - Int(plain.rgb[at + $1])) }
        > 150
    }
    #expect((8...12).contains(strong), "\(strong)")
  }

  @Test("Depth on a coarser or finer grid with the same borders still matches color")
  func grids() {
    for width in [20, 60, 240] {
      let frame = ShownFrame(
        color: color(120, 90), aligned: depth(width), depthWidth: 20, most: most)
      #expect(frame.isAligned)
      #expect(frame.depth?.width == 60 && frame.depth?.height == 45 && frame.color?.width == 60)
    }
  }

  @Test("Depth of another shape, or one that is not aligned, is shown beside color, never over it")
  func apart() throws {
    let turned = ShownFrame(
      color: color(90, 120), aligned: depth(60), depthWidth: 60, most: most)
    let raw = ShownFrame(
      color: color(120, 90), aligned: nil, depth: depth(40), depthWidth: 40, most: most)
    for frame in [turned, raw] {
      let colors = FalseColor(of: [frame.depth].compactMap(\.self))
      #expect(!frame.isAligned && frame.overlay(colors) == nil)
      let pair = try #require(frame.pair(colors))
      let widths = [frame.color?.width, frame.depth?.width].compactMap(\.self)
      #expect(pair.width == widths.reduce(8, +))
    }
  }

  @Test("One of both alone is a picture, nothing is none")
  func alone() throws {
    let colors = FalseColor(nearMillimeters: 900, farMillimeters: 3100)
    let only = ShownFrame(color: color(60, 45), aligned: nil, depthWidth: nil, most: most)
    #expect(only.pair(colors) == only.color)
    let depthOnly = ShownFrame(color: nil, aligned: depth(60), depthWidth: 60, most: most)
    #expect(try #require(depthOnly.pair(colors)).width == 60)
    let nothing = ShownFrame(color: nil, aligned: nil, depthWidth: nil, most: most)
    #expect(nothing.pair(colors) == nil)
  }

  @Test("Means and nearest pixels by hand")
  func reduction() {
    let image = ColorImage(
      width: 4, height: 2,
      rgb: [0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 9, 20, 0, 0, 30, 4, 0, 0, 0, 0, 0, 0, 0])
    #expect(image.mean(PictureSize(width: 2, height: 1)).rgb == [15, 1, 0, 0, 0, 2])
    let depth = DepthImage(width: 4, height: 1, millimeters: [1, 2, 3, 4])
    #expect(depth.nearest(PictureSize(width: 2, height: 1)).millimeters == [2, 4])
    #expect(
      depth.nearest(PictureSize(width: 8, height: 1)).millimeters == [1, 1, 2, 2, 3, 3, 4, 4])
  }

  @Test("Whole pictures stay as they are, byte by byte")
  func snapshots() throws {
    let frame = ShownFrame(
      color: color(240, 180), aligned: depth(240), depthWidth: 80, most: (240, 240))
    let colors = FalseColor(of: [depth(240)])
    let pair = try #require(frame.pair(colors))
    var sheet = PreviewSheet(columns: 2)
    sheet.title = ["a title", "and a second line"]
    sheet.cells = [
      PreviewSheet.Cell(label: "frame 0", pictures: [pair]),
      PreviewSheet.Cell(label: "none", pictures: []),
      PreviewSheet.Cell(label: "frame 2", pictures: [pair, pair]),
    ]
    sheet.scale = colors
    sheet.notes = ["note: one"]
    #expect(Self.hash(pair) == 5710939529209794188)
    #expect(Self.hash(sheet.draw()) == 17502595904409626837)
  }

  /// FNV-1a of size and pixels.
  private static func hash(_ picture: ColorImage) -> UInt64 {
    let size = [picture.width, picture.height].flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
    return (size + picture.rgb).reduce(0xcbf2_9ce4_8422_2325) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01b3
    }
  }
}

@Suite("Outlines and contours of depth")
struct DepthLinesTests {
  /// Columns of a one-row picture that are outlines.
  private func outlines(_ row: [UInt16]) -> [Int] {
    let depth = DepthImage(width: row.count, height: 1, millimeters: row)
    let found = depth.jumps()
    return row.indices.filter { found[$0] }
  }

  @Test("An outline lies on the nearer surface, also across what it hides; other holes have none")
  func edges() {
    #expect(outlines([1000, 1000, 3000, 3000]) == [1])
    #expect(outlines([3000, 3000, 1000, 1000]) == [2])
    #expect(outlines([1000, 1000, 0, 0, 3000]) == [1])
    #expect(outlines([1000, 1000, 0, 0, 1005, 0]) == [])
    #expect(outlines([0, 0, 1000, 0]) == [])
    // Ten millimeters and five percent are no jump.
    #expect(outlines([1000, 1060]) == [])
    #expect(outlines([1000, 1061]) == [0])
    // Too far apart to say that one hides the other.
    #expect(outlines([1000] + Array(repeating: 0, count: 40) + [3000]) == [])
  }

  @Test("The same from above and below as from left and right")
  func transposed() {
    let depth = DepthImage(width: 1, height: 4, millimeters: [1000, 0, 3000, 3000])
    #expect(depth.jumps() == [true, false, false, false])
  }

  @Test("A smooth slope has a contour at every step, of one pixel, and none where it jumps")
  func contours() {
    // 10 mm a pixel: a multiple of 100 mm every ten pixels.
    let slope = (0..<60).map { UInt16(1000 + 10 * $0) }
    let depth = DepthImage(width: 60, height: 1, millimeters: slope)
    let found = depth.contours(step: 100, reach: 0)
    #expect((0..<60).filter { found[$0] } == [9, 19, 29, 39, 49])
    let wall = DepthImage(width: 4, height: 1, millimeters: [1050, 1050, 2050, 2050])
    #expect(!wall.contours(step: 100, reach: 0).contains(true))
    let flat = DepthImage(
      width: 30, height: 30, millimeters: Array(repeating: 1234, count: 900))
    #expect(!flat.contours(step: 100, reach: 3).contains(true))
  }

  @Test(
    "Noise makes no thicket: a contour of a noisy slope is about as long as the picture is high")
  func noise() {
    let (width, height) = (120, 90)
    var depth = DepthImage(width: width, height: height)
    for y in 0..<height {
      for x in 0..<width {
        // Up to 6 mm to either side, without a pattern: the low bits of a square.
        let noise = (x * x * 7 + y * y * 13 + x * y * 5) % 13 - 6
        depth.millimeters[y * width + x] = UInt16(1005 + 2 * x + noise)
      }
    }
    let rough = depth.contours(step: 100, reach: 0).count { $0 }
    let smooth = depth.contours(step: 100, reach: 4).count { $0 }
    #expect(rough > 6 * height)
    #expect((height..<5 * height).contains(smooth), "\(smooth)")
  }
}

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

@Suite("Motion over time")
struct MotionStripTests {
  private func series(
    _ times: [Double], gap: Int64 = 100_000_000, _ value: (Double) -> Double
  ) -> MotionSeries3 {
    var series = MotionSeries3(title: "acceleration", unit: "m/s²", gapNanoseconds: gap)
    for time in times {
      series.append(Int64(time * 1e9), value(time), 0, -1)
    }
    return series
  }

  /// Whether column `x` of the first panel has a pixel of the red line (the x axis of the sensor).
  private func hasLine(_ picture: ColorImage, _ x: Int) -> Bool {
    (14..<110).contains { y in
      let at = 3 * (y * picture.width + x)
      return Array(picture.rgb[at..<at + 3]) == [255, 96, 96]
    }
  }

  @Test("A gap in the samples is a gap in the line; between samples the line goes on")
  func gaps() throws {
    // 20 samples a second: one in ten columns.
    let times = (0..<40).map { Double($0) / 20 }.filter { !(0.8..<1.2).contains($0) }
    let picture = try #require(MotionStrip.draw([series(times) { $0 }], width: 400))
    for second in [0.1, 0.42, 0.7, 1.3, 1.83] {
      #expect(hasLine(picture, Int(second / 1.95 * 399)), "\(second)")
    }
    for second in [0.85, 1.0, 1.1] { #expect(!hasLine(picture, Int(second / 1.95 * 399))) }
  }

  @Test("Large is above small")
  func direction() throws {
    func row(_ picture: ColorImage, _ x: Int) throws -> Int {
      try #require(
        (14..<110).first { y in
          let at = 3 * (y * picture.width + x)
          return Array(picture.rgb[at..<at + 3]) == [255, 96, 96]
        })
    }
    let times = (0..<400).map { Double($0) / 100 }
    let picture = try #require(MotionStrip.draw([series(times) { $0 }], width: 300))
    #expect(try row(picture, 280) < row(picture, 150))
    #expect(try row(picture, 150) < row(picture, 20))
  }

  @Test("Nothing recorded, nothing drawn; what is odd is drawn somehow")
  func odd() throws {
    #expect(MotionStrip.draw([]) == nil)
    #expect(MotionStrip.draw([series([]) { $0 }]) == nil)
    #expect(MotionStrip.draw([series([5]) { _ in 1 }]) != nil)
    #expect(MotionStrip.draw([series([0, 1]) { $0 == 0 ? 1e300 : -1e300 }]) != nil)
    #expect(MotionStrip.draw([series([0, 1]) { _ in .nan }]) != nil)
    var far = series([0]) { $0 }
    far.append(.max, 1, 1, 1)
    #expect(MotionStrip.draw([far], frames: [.min, .max], shown: [0]) != nil)
  }

  @Test("The times of frames are marked below")
  func frames() throws {
    let times = (0..<100).map { Double($0) / 10 }
    let picture = try #require(
      MotionStrip.draw(
        [series(times) { _ in 0 }], frames: (50..<99).map { Int64($0) * 100_000_000 },
        shown: [7_000_000_000], width: 500))
    func color(_ x: Int, _ y: Int) -> UInt8 { picture.rgb[3 * ((110 + y) * picture.width + x)] }
    #expect((260..<490).contains { color($0, 4) == 130 })
    #expect(!(0..<240).contains { color($0, 4) == 130 })
    #expect(color(352, 7) == 255)
  }
}

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
    #expect(value.fixed(digits) == text)
  }
}

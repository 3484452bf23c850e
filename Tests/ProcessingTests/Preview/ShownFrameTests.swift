@testable import Core
@testable import Processing
import Testing

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
      let pair = try #require(PreviewPicture.compose(frame, colors))
      let widths = [frame.color?.width, frame.depth?.width].compactMap(\.self)
      #expect(pair.width == widths.reduce(8, +))
    }
  }

  @Test("One of both alone is a picture, nothing is none")
  func alone() throws {
    let colors = FalseColor(nearMillimeters: 900, farMillimeters: 3100)
    let only = ShownFrame(color: color(60, 45), aligned: nil, depthWidth: nil, most: most)
    #expect(PreviewPicture.compose(only, colors) == only.color)
    let depthOnly = ShownFrame(color: nil, aligned: depth(60), depthWidth: 60, most: most)
    #expect(try #require(PreviewPicture.compose(depthOnly, colors)).width == 60)
    let nothing = ShownFrame(color: nil, aligned: nil, depthWidth: nil, most: most)
    #expect(PreviewPicture.compose(nothing, colors) == nil)
  }

  @Test("Means and nearest pixels by hand")
  func reduction() {
    let image = ColorImage(
      width: 4, height: 2,
      rgb: [0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 9, 20, 0, 0, 30, 4, 0, 0, 0, 0, 0, 0, 0])
    #expect(PictureReduction.mean(image, width: 2, height: 1).rgb == [15, 1, 0, 0, 0, 2])
    let depth = DepthImage(width: 4, height: 1, millimeters: [1, 2, 3, 4])
    #expect(PictureReduction.nearest(depth, width: 2, height: 1).millimeters == [2, 4])
    #expect(
      PictureReduction.nearest(depth, width: 8, height: 1).millimeters == [1, 1, 2, 2, 3, 3, 4, 4])
  }

  @Test("Whole pictures stay as they are, byte by byte")
  func snapshots() throws {
    let frame = ShownFrame(
      color: color(240, 180), aligned: depth(240), depthWidth: 80, most: (240, 240))
    let colors = FalseColor(of: [depth(240)])
    let pair = try #require(PreviewPicture.compose(frame, colors))
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

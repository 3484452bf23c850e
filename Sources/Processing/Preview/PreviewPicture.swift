import Geometry

/// The picture that shows whether depth lies where color is: color with the outlines of depth on the
/// left, depth in false color with a scale in millimeters on the right.
///
/// A wrong direction of the extrinsics shows at a glance: outlines stand beside the objects by twice the
/// distance of the cameras.
public enum PreviewPicture {
  /// The range that shows most of some depth pictures: from their 2nd to their 98th percentile,
  /// widened to whole 100 mm.
  public static func range(of pictures: [DepthImage]) -> FalseColor {
    var counts = [Int](repeating: 0, count: 65_536)
    for picture in pictures {
      for value in picture.millimeters where value > 0 { counts[Int(value)] += 1 }
    }
    let total = counts.reduce(0, +)
    func value(atShare share: Double) -> Double {
      var rest = Int(Double(total) * share)
      for (value, count) in counts.enumerated() {
        rest -= count
        if rest < 0 { return Double(value) }
      }
      return 1000
    }
    return FalseColor(
      nearMillimeters: (value(atShare: 0.02) / 100).rounded(.down) * 100,
      farMillimeters: (value(atShare: 0.98) / 100).rounded(.up) * 100)
  }

  /// Both pictures have the same size; each half is reduced by a whole number to at most
  /// `halfWidth` pixels. The scale stands below, so that it hides nothing.
  ///
  /// `depthPixel` is how many pixels of this grid a pixel of the depth camera is wide: over that much a
  /// low relief, which is not cut, rises.
  public static func compose(
    color: ColorImage, aligned: DepthImage, colors: FalseColor, depthPixel: Int,
    halfWidth: Int = 800
  ) -> ColorImage {
    let step = max(1, (color.width + halfWidth - 1) / halfWidth)
    let (width, height) = (color.width / step, color.height / step)
    let gap = 8
    let edges = zip(
      DepthEdges.find(in: aligned), ReliefEdges.find(in: aligned, span: depthPixel)
    ).map { $0 || $1 }
    var picture = ColorImage(
      width: width * 2 + gap, height: height + Self.scaleHeight(width: width))
    for y in 0..<height {
      for x in 0..<width {
        let left = (y * picture.width + x) * 3
        let right = (y * picture.width + x + width + gap) * 3
        let block = Block(x: x * step, y: y * step, step: step)
        let shown =
          block.hasEdge(edges, width: color.width)
          ? (red: 255, green: 40, blue: 200) : block.mean(of: color)
        picture.set(left, shown)
        let depth = aligned.millimeters[(y * step + step / 2) * color.width + x * step + step / 2]
        picture.set(right, colors.rgb(ofMillimeters: depth))
      }
    }
    drawScale(colors, into: &picture, left: width + gap, width: width)
    return picture
  }

  /// How much larger than its smallest size everything about the scale is.
  private static func scaleFactor(width: Int) -> Int { max(1, width / 320) }

  /// A margin, digits, a gap, the bar, a margin.
  private static func scaleHeight(width: Int) -> Int {
    (8 + DigitFont.height + 3 + 8 + 8) * scaleFactor(width: width)
  }

  private static func drawScale(
    _ colors: FalseColor, into picture: inout ColorImage, left: Int, width: Int
  ) {
    let scale = scaleFactor(width: width)
    let barHeight = 8 * scale
    let margin = 8 * scale
    let top = picture.height - margin - barHeight
    let barWidth = width - 2 * margin
    guard barWidth > 0 else { return }
    let span = colors.farMillimeters - colors.nearMillimeters
    for x in 0..<barWidth {
      let depth = colors.nearMillimeters + span * Double(x) / Double(max(1, barWidth - 1))
      picture.fill(
        x: left + margin + x, y: top, width: 1, height: barHeight,
        colors.rgb(ofMillimeters: UInt16(min(max(depth, 1), 65_535))))
    }
    for tick in 0...4 {
      let text = "\(Int(colors.nearMillimeters + span * Double(tick) / 4))mm"
      let textWidth = DigitFont.width(of: text, scale: scale)
      let center = left + margin + barWidth * tick / 4
      let x = min(max(center - textWidth / 2, left + margin), left + margin + barWidth - textWidth)
      DigitFont.draw(
        text, into: &picture, x: x, y: top - (DigitFont.height + 3) * scale, scale: scale)
    }
  }

  /// A square of source pixels behind one pixel of the preview.
  private struct Block {
    var x: Int
    var y: Int
    var step: Int

    func mean(of image: ColorImage) -> (red: UInt8, green: UInt8, blue: UInt8) {
      var sums = (0, 0, 0)
      for row in y..<(y + step) {
        for column in x..<(x + step) {
          let index = (row * image.width + column) * 3
          sums.0 += Int(image.rgb[index])
          sums.1 += Int(image.rgb[index + 1])
          sums.2 += Int(image.rgb[index + 2])
        }
      }
      let count = step * step
      return (UInt8(sums.0 / count), UInt8(sums.1 / count), UInt8(sums.2 / count))
    }

    func hasEdge(_ edges: [Bool], width: Int) -> Bool {
      for row in y..<(y + step) {
        for column in x..<(x + step) where edges[row * width + column] { return true }
      }
      return false
    }
  }
}

extension ColorImage {
  fileprivate mutating func set(
    _ index: Int, _ color: (red: UInt8, green: UInt8, blue: UInt8)
  ) {
    rgb[index] = color.red
    rgb[index + 1] = color.green
    rgb[index + 2] = color.blue
  }
}

import Core

/// An overview picture of a capture: lines of text, frames in columns, the scale of depth, and
/// plots of the motion sensors.
package struct PreviewSheet: Sendable {
  /// One frame: its pictures, one below the other.
  package struct Cell: Sendable {
    var label: String
    package var pictures: [ColorImage]

    package init(label: String, pictures: [ColorImage]) {
      (self.label, self.pictures) = (label, pictures)
    }
  }

  /// Lines above the pictures; long ones are cut.
  package var title: [String] = []
  package var cells: [Cell] = []
  package var columns: Int
  /// The color scale to draw, if some pictures are in false colors.
  package var scale: FalseColor?
  /// Whether some pictures have contours of depth.
  package var hasContours = false
  package var strip: ColorImage?
  /// Lines below the pictures.
  package var notes: [String] = []

  /// Width of the sheet and of the motion plots, pixels.
  package static let width = 1288
  private static let gap = 8
  private static let lineHeight = 20

  package init(columns: Int) {
    self.columns = max(1, columns)
  }

  /// Largest size of a picture on a sheet with this many columns.
  package static func pictureSize(columns: Int) -> (width: Int, height: Int) {
    let side = (width - gap * (max(1, columns) - 1)) / max(1, columns)
    return (side, side)
  }

  /// Draws the sheet, 1,288 pixels wide and at least one text line high.
  package func draw() -> ColorImage {
    let side = Self.pictureSize(columns: columns).width
    let rows = stride(from: 0, to: cells.count, by: columns).map {
      Array(cells[$0..<min($0 + columns, cells.count)])
    }
    let shapes = rows.map(Self.heights)
    let labelHeight = Self.lineHeight
    var height = Self.gap + (title.count + notes.count) * Self.lineHeight
    for shape in shapes {
      height += labelHeight + shape.reduce(0) { $0 + $1 + Self.gap }
    }
    let scaleHeight = scale == nil ? 0 : FalseColor.scaleHeight(width: Self.width / 2) + Self.gap
    height += scaleHeight + (strip.map { $0.height + Self.gap } ?? 0)
    var picture = ColorImage(
      width: Self.width, height: min(max(height, Self.lineHeight), 32_000),
      filled: PixelColor(24, 24, 24))
    var y = Self.gap
    func write(_ lines: [String], _ color: PixelColor) {
      for line in lines {
        let text = PictureFont.fitting(line, pixels: Self.width - 8, scale: 2)
        PictureFont.draw(text, into: &picture, x: 4, y: y, scale: 2, color)
        y += Self.lineHeight
      }
    }
    write(title, .white)
    for (row, shape) in zip(rows, shapes) {
      for (column, cell) in row.enumerated() {
        let x = column * (side + Self.gap)
        let label = PictureFont.fitting(cell.label, pixels: side, scale: 2)
        PictureFont.draw(
          label, into: &picture, x: x + 4, y: y + 1, scale: 2, PixelColor(190, 190, 190))
        var top = y + labelHeight
        for (one, height) in zip(cell.pictures, shape) {
          picture.put(one, x: x + max(0, side - one.width) / 2, y: top)
          top += height + Self.gap
        }
      }
      y += labelHeight + shape.reduce(0) { $0 + $1 + Self.gap }
    }
    if let scale {
      scale.drawScale(into: &picture, x: 0, y: y, width: Self.width / 2)
      PictureFont.draw(
        (hasContours ? scale.contourText + "; " : "") + "black: no measurement",
        into: &picture, x: Self.width / 2 + 8,
        y: y + scaleHeight / 2 - 10, scale: 2, PixelColor(190, 190, 190))
      y += scaleHeight
    }
    if let strip {
      picture.put(strip, x: 0, y: y)
      y += strip.height + Self.gap
    }
    write(notes, PixelColor(255, 200, 90))
    return picture
  }

  /// The height of each row of pictures, from the top: that of its largest picture.
  private static func heights(_ row: [Cell]) -> [Int] {
    (0..<(row.map(\.pictures.count).max() ?? 0)).map { place in
      row.compactMap { place < $0.pictures.count ? $0.pictures[place].height : nil }.max() ?? 0
    }
  }
}

/// A reduced depth picture: each pixel is the mean of the measured pixels it covers, or unmeasured
/// if most of them are.
package struct ReducedDepth: Sendable {
  package let width: Int
  package let height: Int
  private(set) var millimeters: [UInt16]
  /// Pixels at which depth jumps to a neighbor.
  private(set) var edges: [Bool]
  /// Measured share of the original pixels.
  package let measuredShare: Double
  /// Range of measured depth, meters.
  package let measured: ClosedRange<Double>?

  package init(_ picture: DepthImage, width: Int, height: Int) {
    let (width, height) = (max(1, min(width, picture.width)), max(1, min(height, picture.height)))
    (self.width, self.height) = (width, height)
    millimeters = Array(repeating: 0, count: width * height)
    edges = Array(repeating: false, count: width * height)
    var total = 0
    var (low, high) = (UInt16.max, UInt16.min)
    for y in 0..<height {
      let rows = (y * picture.height / height)..<((y + 1) * picture.height / height)
      for x in 0..<width {
        let columns = (x * picture.width / width)..<((x + 1) * picture.width / width)
        var (sum, count) = (0, 0)
        for row in rows {
          for column in columns {
            let index = row * picture.width + column
            let value = picture.millimeters[index]
            if value > 0 {
              sum += Int(value)
              count += 1
              low = min(low, value)
              high = max(high, value)
            }
          }
        }
        total += count
        let area = rows.count * columns.count
        if count * 2 >= area, count > 0 { millimeters[y * width + x] = UInt16(sum / count) }
      }
    }
    measuredShare = Double(total) / Double(max(1, picture.millimeters.count))
    measured = total > 0 ? Double(low) / 1000...Double(high) / 1000 : nil
    findEdges()
  }

  /// Marks the nearer side of steps above 60 mm and 5 % of the distance. Borders of holes are not
  /// marked, because hatching shows them.
  private mutating func findEdges() {
    func jumps(_ here: UInt16, _ there: UInt16) -> Bool {
      here > 0 && there > here && Double(there - here) > 60 + 0.05 * Double(here)
    }
    for y in 0..<height {
      for x in 0..<width {
        let index = y * width + x
        let here = millimeters[index]
        edges[index] =
          (x > 0 && jumps(here, millimeters[index - 1]))
          || (x + 1 < width && jumps(here, millimeters[index + 1]))
          || (y > 0 && jumps(here, millimeters[index - width]))
          || (y + 1 < height && jumps(here, millimeters[index + width]))
      }
    }
  }
}

extension ReducedDepth {
  /// Depth in colors; unmeasured pixels are hatched.
  package func picture(meters: ClosedRange<Double>) -> ColorImage {
    var image = ColorImage(width: width, height: height)
    for y in 0..<height {
      for x in 0..<width {
        let index = y * width + x
        let gray: UInt8 = Self.isHatch(x, y) ? 120 : 225
        image[pixel: index] =
          millimeters[index] > 0
          ? .viridis(share(millimeters[index], meters)) : PixelColor(gray, gray, gray)
      }
    }
    return image
  }

  /// Aligned depth over gray color, with outlines of depth on top; color alone, hatched, where there is no depth.
  package func overlay(on color: ColorImage, meters: ClosedRange<Double>) -> ColorImage {
    var image = color
    for y in 0..<min(color.height, height) {
      for x in 0..<min(color.width, width) {
        let (index, source) = (y * color.width + x, y * width + x)
        let own = color[pixel: index]
        if edges[source] {
          image[pixel: index] = .white
        } else if millimeters[source] > 0 {
          let gray = (Int(own.red) * 77 + Int(own.green) * 150 + Int(own.blue) * 29) >> 8
          let shade = PixelColor.viridis(share(millimeters[source], meters))
          func mixed(_ hue: UInt8) -> UInt8 { UInt8((Int(hue) * 55 + gray * 45) / 100) }
          image[pixel: index] = PixelColor(mixed(shade.red), mixed(shade.green), mixed(shade.blue))
        } else if Self.isHatch(x, y) {
          image[pixel: index] = PixelColor(own.red / 2, own.green / 2, own.blue / 2)
        }
      }
    }
    return image
  }

  /// Diagonal strokes two pixels wide.
  private static func isHatch(_ x: Int, _ y: Int) -> Bool { (x + y) % 8 < 2 }

  private func share(_ millimeters: UInt16, _ meters: ClosedRange<Double>) -> Double {
    let span = max(meters.upperBound - meters.lowerBound, 1e-3)
    return (Double(millimeters) / 1000 - meters.lowerBound) / span
  }
}

extension PixelColor {
  /// Viridis (S. van der Walt, N. Smith, 2015; CC0), 17 of its 256 colors.
  private static let anchors: [UInt32] = [
    0x440154, 0x481467, 0x482576, 0x453781, 0x404688, 0x39558C, 0x33638D, 0x2D718E, 0x287D8E,
    0x238A8D, 0x1F968B, 0x29AF7F, 0x3CBB75, 0x73D055, 0x95D840, 0xB8DE29, 0xFDE725,
  ]

  /// The color for depth at a fraction of the range, clamped outside: with even steps in lightness, also for color-blind
  /// readers and in gray print, near dark, far bright.
  package static func viridis(_ share: Double) -> PixelColor {
    let last = anchors.count - 1
    let place = (share.isFinite ? min(max(share, 0), 1) : 0) * Double(last)
    let index = min(Int(place), last - 1)
    let part = place - Double(index)
    func channel(_ shift: UInt32) -> UInt8 {
      let a = Double((anchors[index] >> shift) & 0xFF)
      let b = Double((anchors[index + 1] >> shift) & 0xFF)
      return UInt8((a + (b - a) * part).rounded())
    }
    return PixelColor(channel(16), channel(8), channel(0))
  }

  /// `#440154`.
  package var hex: String {
    "#" + (Int(red) << 16 | Int(green) << 8 | Int(blue)).padded(6, radix: 16)
  }
}

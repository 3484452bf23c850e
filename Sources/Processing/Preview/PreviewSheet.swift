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
    let scaleHeight = scale == nil ? 0 : DepthScale.height(width: Self.width / 2) + Self.gap
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
      DepthScale.draw(scale, into: &picture, x: 0, y: y, width: Self.width / 2)
      PictureFont.draw(
        (hasContours ? DepthScale.contourText(scale) + "; " : "") + "black: no measurement",
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

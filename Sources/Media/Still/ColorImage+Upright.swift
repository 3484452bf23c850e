import Core

extension ColorImage {
  /// The picture turned as EXIF Orientation 1…8 requires; other values count as 1.
  ///
  /// 2 and 4 mirror, 3 turns by 180°, 6 and 8 turn by 90° clockwise and counterclockwise, 5 and 7
  /// do both. Cost: one pass.
  public func upright(exifOrientation: Int) -> ColorImage {
    guard (2...8).contains(exifOrientation) else { return self }
    let isSideways = exifOrientation >= 5
    var result =
      isSideways
      ? ColorImage(width: height, height: width) : ColorImage(width: width, height: height)
    for y in 0..<result.height {
      for x in 0..<result.width {
        let (column, row) = source(x, y, exifOrientation)
        let from = (row * width + column) * 3
        let to = (y * result.width + x) * 3
        result.rgb[to] = rgb[from]
        result.rgb[to + 1] = rgb[from + 1]
        result.rgb[to + 2] = rgb[from + 2]
      }
    }
    return result
  }

  /// The stored pixel that is displayed at (x, y).
  private func source(_ x: Int, _ y: Int, _ orientation: Int) -> (column: Int, row: Int) {
    switch orientation {
    case 2: (width - 1 - x, y)
    case 3: (width - 1 - x, height - 1 - y)
    case 4: (x, height - 1 - y)
    case 5: (y, x)
    case 6: (y, height - 1 - x)
    case 7: (width - 1 - y, height - 1 - x)
    default: (width - 1 - y, x)
    }
  }
}

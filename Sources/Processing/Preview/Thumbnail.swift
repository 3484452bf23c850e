import Core

/// Small pictures: as large as fits a square, aspect kept, never enlarged.
public enum Thumbnail {
  /// The size of the thumbnail of a `width` × `height` picture: scale min(1, side / longest side),
  /// each side rounded to nearest and at least 1.
  public static func size(width: Int, height: Int, side: Int = 300) -> (width: Int, height: Int) {
    let scale = min(1, Double(side) / Double(max(width, height, 1)))
    func scaled(_ length: Int) -> Int {
      max(1, Int((Double(length) * scale).rounded(.toNearestOrAwayFromZero)))
    }
    return (scaled(width), scaled(height))
  }

  /// Every pixel of the result is the mean of the area it covers in `picture`.
  public static func make(of picture: ColorImage, side: Int = 300) -> ColorImage {
    let (width, height) = size(width: picture.width, height: picture.height, side: side)
    guard (width, height) != (picture.width, picture.height) else { return picture }
    let columns = spans(of: width, over: picture.width)
    let rows = spans(of: height, over: picture.height)
    var result = ColorImage(width: width, height: height)
    for y in 0..<height {
      for x in 0..<width {
        var sums = (0.0, 0.0, 0.0)
        var area = 0.0
        for (row, rowWeight) in rows[y] {
          for (column, columnWeight) in columns[x] {
            let weight = rowWeight * columnWeight
            let index = (row * picture.width + column) * 3
            sums.0 += weight * Double(picture.rgb[index])
            sums.1 += weight * Double(picture.rgb[index + 1])
            sums.2 += weight * Double(picture.rgb[index + 2])
            area += weight
          }
        }
        let index = (y * width + x) * 3
        result.rgb[index] = UInt8((sums.0 / area).rounded())
        result.rgb[index + 1] = UInt8((sums.1 / area).rounded())
        result.rgb[index + 2] = UInt8((sums.2 / area).rounded())
      }
    }
    return result
  }

  /// Which source pixels each of `count` pixels covers, and how much of each.
  private static func spans(of count: Int, over source: Int) -> [[(Int, Double)]] {
    let step = Double(source) / Double(count)
    return (0..<count).map { index in
      let (start, end) = (Double(index) * step, Double(index + 1) * step)
      let last = min(source - 1, Int(end.rounded(.up)) - 1)
      return (Int(start)...max(Int(start), last)).map { pixel in
        (pixel, min(end, Double(pixel + 1)) - max(start, Double(pixel)))
      }
    }
  }
}

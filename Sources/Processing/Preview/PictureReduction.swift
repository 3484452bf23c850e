import Core

/// Reduces pictures for display.
package enum PictureReduction {
  /// The largest size within `most` with the aspect of `width` × `height`; never enlarged, at least
  /// one pixel.
  package static func size(
    width: Int, height: Int, most: (width: Int, height: Int)
  ) -> (width: Int, height: Int) {
    guard width > 0, height > 0 else { return (1, 1) }
    let scale = min(1, Double(most.width) / Double(width), Double(most.height) / Double(height))
    return (
      max(1, Int((Double(width) * scale).rounded())),
      max(1, Int((Double(height) * scale).rounded()))
    )
  }

  /// A smaller picture in which every pixel is the mean of the source pixels that it covers. The
  /// size must not exceed that of `picture`. Cost: one pass over its bytes.
  package static func mean(_ picture: ColorImage, width: Int, height: Int) -> ColorImage {
    guard (width, height) != (picture.width, picture.height), width > 0, height > 0,
      picture.width >= width, picture.height >= height
    else { return picture }
    var result = ColorImage(width: width, height: height)
    var sums = [UInt32](repeating: 0, count: width * 3)
    let edges = (0...width).map { $0 * picture.width / width }
    picture.rgb.withUnsafeBufferPointer { source in
      for y in 0..<height {
        let rows = y * picture.height / height..<(y + 1) * picture.height / height
        for index in sums.indices { sums[index] = 0 }
        for row in rows {
          var at = row * picture.width * 3
          for x in 0..<width {
            var (red, green, blue): (UInt32, UInt32, UInt32) = (0, 0, 0)
            for _ in edges[x]..<edges[x + 1] {
              red &+= UInt32(source[at])
              green &+= UInt32(source[at + 1])
              blue &+= UInt32(source[at + 2])
              at += 3
            }
            sums[3 * x] &+= red
            sums[3 * x + 1] &+= green
            sums[3 * x + 2] &+= blue
          }
        }
        for x in 0..<width {
          let count = UInt32(rows.count * (edges[x + 1] - edges[x]))
          for channel in 0..<3 {
            result.rgb[3 * (y * width + x) + channel] = UInt8(
              truncatingIfNeeded: (sums[3 * x + channel] + count / 2) / count)
          }
        }
      }
    }
    return result
  }

  /// A picture in which every pixel is the source pixel at its center, because depths of two
  /// surfaces must not be averaged. May also enlarge.
  static func nearest(_ picture: DepthImage, width: Int, height: Int) -> DepthImage {
    guard (width, height) != (picture.width, picture.height), width > 0, height > 0,
      picture.width > 0, picture.height > 0
    else { return picture }
    var result = DepthImage(width: width, height: height)
    let columns = (0..<width).map { (2 * $0 + 1) * picture.width / (2 * width) }
    for y in 0..<height {
      let row = (2 * y + 1) * picture.height / (2 * height) * picture.width
      for x in 0..<width {
        result.millimeters[y * width + x] = picture.millimeters[row + columns[x]]
      }
    }
    return result
  }
}

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

import Core

// Pictures made smaller for display.

extension PictureSize {
  /// The largest size within `most` with the aspect of this one; never enlarged, at least one pixel.
  package func within(_ most: (width: Int, height: Int)) -> PictureSize {
    guard width > 0, height > 0 else { return PictureSize(width: 1, height: 1) }
    let scale = min(1, Double(most.width) / Double(width), Double(most.height) / Double(height))
    return PictureSize(
      width: max(1, Int((Double(width) * scale).rounded())),
      height: max(1, Int((Double(height) * scale).rounded())))
  }

  /// The size of a picture of this size on a sheet whose columns have so many pixels: at most twice as high as wide.
  package func inColumn(_ columnWidth: Int) -> PictureSize {
    within((columnWidth, 2 * columnWidth))
  }
}

extension ColorImage {
  /// A smaller picture in which every pixel is the mean of the pixels of this one that it covers, each of them whole. The
  /// size must not exceed that of this picture. Cost: one pass over its bytes.
  package func mean(_ size: PictureSize) -> ColorImage {
    guard size != self.size, size.width > 0, size.height > 0, width >= size.width,
      height >= size.height
    else { return self }
    var result = ColorImage(width: size.width, height: size.height)
    let (picture, width, height) = (self, size.width, size.height)
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

  /// A picture as large as fits a square, aspect kept, never enlarged: every pixel is the mean of the area that it covers
  /// in this one.
  public func thumbnail(side: Int) -> ColorImage {
    let size = size.within((side, side))
    guard size != self.size else { return self }
    let columns = Self.spans(of: size.width, over: width)
    let rows = Self.spans(of: size.height, over: height)
    var result = ColorImage(width: size.width, height: size.height)
    for y in 0..<size.height {
      for x in 0..<size.width {
        var sums = (0.0, 0.0, 0.0)
        var area = 0.0
        for (row, rowWeight) in rows[y] {
          for (column, columnWeight) in columns[x] {
            let weight = rowWeight * columnWeight
            let index = (row * width + column) * 3
            sums.0 += weight * Double(rgb[index])
            sums.1 += weight * Double(rgb[index + 1])
            sums.2 += weight * Double(rgb[index + 2])
            area += weight
          }
        }
        let index = (y * size.width + x) * 3
        result.rgb[index] = UInt8((sums.0 / area).rounded())
        result.rgb[index + 1] = UInt8((sums.1 / area).rounded())
        result.rgb[index + 2] = UInt8((sums.2 / area).rounded())
      }
    }
    return result
  }

  /// The thumbnail for a column of a sheet.
  package func inColumn(_ columnWidth: Int) -> ColorImage {
    let size = size.inColumn(columnWidth)
    return thumbnail(side: max(size.width, size.height))
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

extension DepthImage {
  /// A picture in which every pixel is the pixel of this one at its center, because depths of two surfaces must not be
  /// averaged. May also enlarge.
  func nearest(_ size: PictureSize) -> DepthImage {
    guard size != self.size, size.width > 0, size.height > 0, width > 0, height > 0 else {
      return self
    }
    var result = DepthImage(width: size.width, height: size.height)
    let columns = (0..<size.width).map { (2 * $0 + 1) * width / (2 * size.width) }
    for y in 0..<size.height {
      let row = (2 * y + 1) * height / (2 * size.height) * width
      for x in 0..<size.width {
        result.millimeters[y * size.width + x] = millimeters[row + columns[x]]
      }
    }
    return result
  }
}

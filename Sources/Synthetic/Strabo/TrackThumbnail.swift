import Core

/// The thumbnail that the app makes of a capture.
enum TrackThumbnail {
  /// Width and height that a thumbnail of a picture must have: the longest side at most 300.
  static func size(width: Int, height: Int) -> (width: Int, height: Int) {
    let scale = min(1, 300 / Double(max(width, height)))
    func side(_ pixels: Int) -> Int {
      max(1, Int((Double(pixels) * scale).rounded(.toNearestOrAwayFromZero)))
    }
    return (side(width), side(height))
  }

  /// The picture at another size; each pixel is the mean of those that it covers.
  static func scale(_ image: ColorImage, width: Int, height: Int) -> ColorImage {
    var rgb: [UInt8] = []
    rgb.reserveCapacity(width * height * 3)
    for row in 0..<height {
      let rows = source(row, of: height, in: image.height)
      for column in 0..<width {
        let columns = source(column, of: width, in: image.width)
        for channel in 0..<3 {
          var sum = 0
          for y in rows {
            for x in columns { sum += Int(image.rgb[(y * image.width + x) * 3 + channel]) }
          }
          rgb.append(UInt8(sum / (rows.count * columns.count)))
        }
      }
    }
    return ColorImage(width: width, height: height, rgb: rgb)
  }

  /// The old pixels that new pixel `index` of `count` covers, at least one.
  private static func source(_ index: Int, of count: Int, in oldCount: Int) -> Range<Int> {
    let first = index * oldCount / count
    return first..<max(first + 1, (index + 1) * oldCount / count)
  }
}

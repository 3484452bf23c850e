/// A gray picture of at most `longestSide` pixels, and halves of it down to 12: what is needed of a picture to
/// see how the camera turned.
public struct SmallPicture: Sendable {
  /// One size: brightness row by row, with mean 0 and variance 1.
  struct Level {
    var width: Int
    var height: Int
    var values: [Float]
  }

  static let longestSide = 96
  private static let leastSide = 12

  /// From large to small; never empty.
  let levels: [Level]
  /// Pixels of the given picture that are one pixel of the first level.
  let factor: Int

  /// Reduces 8-bit RGB by a whole factor. `nil` if the bytes are not those of the size, a side gets below 12
  /// pixels, or the picture shows no difference. Cost: a pass over the bytes.
  public init?(rgb: [UInt8], width: Int, height: Int) {
    guard width > 0, height > 0, rgb.count == width * height * 3 else { return nil }
    let factor = max(1, (max(width, height) + Self.longestSide - 1) / Self.longestSide)
    let (columns, rows) = (width / factor, height / factor)
    guard min(columns, rows) >= Self.leastSide else { return nil }
    self.factor = factor
    var values = [Float](repeating: 0, count: columns * rows)
    rgb.withUnsafeBufferPointer { bytes in
      for row in 0..<(rows * factor) {
        let line = row * width * 3
        let out = row / factor * columns
        for column in 0..<columns {
          var sum = 0
          let start = line + column * factor * 3
          for index in start..<(start + factor * 3) { sum &+= Int(bytes[index]) }
          values[out + column] += Float(sum)
        }
      }
    }
    // Single pixels of a reduced picture hold noise, and edges that interpolation cannot move.
    Self.smooth(&values, width: columns, height: rows)
    var levels = [Level(width: columns, height: rows, values: values)]
    while let last = levels.last, min(last.width, last.height) >= 2 * Self.leastSide {
      levels.append(Self.half(last))
    }
    for index in levels.indices {
      guard Self.normalize(&levels[index].values) else { return nil }
    }
    self.levels = levels
  }

  /// The mean of neighbors with the weights 1, 2, 1 in both directions.
  private static func smooth(_ values: inout [Float], width: Int, height: Int) {
    for (count, stride, lines, lineStride) in [
      (width, 1, height, width), (height, width, width, 1),
    ] {
      for line in 0..<lines {
        var before = values[line * lineStride]
        for place in 0..<count {
          let at = line * lineStride + place * stride
          let here = values[at]
          let after = place + 1 < count ? values[at + stride] : here
          values[at] = (before + 2 * here + after) / 4
          before = here
        }
      }
    }
  }

  private static func half(_ level: Level) -> Level {
    let (width, height) = (level.width / 2, level.height / 2)
    var values = [Float](repeating: 0, count: width * height)
    for row in 0..<height {
      for column in 0..<width {
        let at = 2 * row * level.width + 2 * column
        values[row * width + column] =
          level.values[at] + level.values[at + 1] + level.values[at + level.width]
          + level.values[at + level.width + 1]
      }
    }
    return Level(width: width, height: height, values: values)
  }

  /// Brightness and contrast change from picture to picture. `false` without any contrast.
  private static func normalize(_ values: inout [Float]) -> Bool {
    let count = Float(max(1, values.count))
    let mean = values.reduce(0, +) / count
    let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / count
    // Less than a level of 255 for each of the pixels that were added.
    guard variance > 1e-6 * mean * mean, variance > 0 else { return false }
    let scale = 1 / variance.squareRoot()
    for index in values.indices { values[index] = (values[index] - mean) * scale }
    return true
  }
}

/// Makes gray pictures smaller by a whole factor.
enum BlockReduction {
  /// The least factor by which both sides of a picture are at most `longestSide`.
  static func factor(width: Int, height: Int, longestSide: Int) -> Int {
    max(1, (max(width, height) + longestSide - 1) / longestSide)
  }

  /// The means of blocks of `factor` × `factor` pixels, rounded to nearest; what is left at the right and
  /// at the bottom is left out, unless a whole side is shorter than `factor`. `nil` if the values are not
  /// those of the size, or for factors above 256. Cost: one pass over the values.
  static func reduce(
    _ values: [UInt8], width: Int, height: Int, by factor: Int
  ) -> (values: [UInt8], width: Int, height: Int)? {
    // A column sum of 16 bits holds 257 rows.
    guard width > 0, height > 0, (1...256).contains(factor),
      values.count / width == height, values.count % width == 0
    else { return nil }
    if factor == 1 { return (values, width, height) }
    let (across, down) = (min(factor, width), min(factor, height))
    let (columns, rows) = (width / across, height / down)
    let used = columns * across
    var sums = [UInt16](repeating: 0, count: used)
    var reduced = [UInt8](repeating: 0, count: columns * rows)
    let area = UInt32(across * down)
    values.withUnsafeBufferPointer { values in
      sums.withUnsafeMutableBufferPointer { sums in
        reduced.withUnsafeMutableBufferPointer { reduced in
          for row in 0..<rows {
            let top = row &* down &* width
            for at in 0..<used { sums[at] = UInt16(truncatingIfNeeded: values[top &+ at]) }
            for line in 1..<max(1, down) where line < down {
              let start = top &+ line &* width
              for at in 0..<used { sums[at] &+= UInt16(truncatingIfNeeded: values[start &+ at]) }
            }
            for column in 0..<columns {
              var sum: UInt32 = 0
              for at in column &* across..<(column &+ 1) &* across {
                sum &+= UInt32(truncatingIfNeeded: sums[at])
              }
              reduced[row &* columns &+ column] = UInt8(
                truncatingIfNeeded: (sum &+ area / 2) / area)
            }
          }
        }
      }
    }
    return (reduced, columns, rows)
  }
}

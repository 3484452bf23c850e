/// Makes pictures smaller by a whole factor: each value is the mean of a block of pixels.
enum BlockReduction {
  /// The least factor by which both sides of a picture are at most `longestSide`.
  static func factor(width: Int, height: Int, longestSide: Int) -> Int {
    max(1, (max(width, height) + longestSide - 1) / longestSide)
  }

  /// Larger factors are refused: no picture needs them (InputLimits), and sums would not fit.
  static let factors = 1...256

  /// The means of blocks of `factor` × `factor` pixels, rounded to nearest; what is left at the right and
  /// at the bottom is left out, unless a whole side is shorter than `factor`. `nil` if the values are not
  /// those of the size, or for factors above 256. Cost: one pass over the values.
  static func reduce(
    _ values: [UInt8], width: Int, height: Int, by factor: Int
  ) -> (values: [UInt8], width: Int, height: Int)? {
    guard width > 0, height > 0, factors.contains(factor), values.count / width == height,
      values.count % width == 0
    else { return nil }
    if factor == 1 { return (values, width, height) }
    return BlockSums<UInt16>.holds(factor)
      ? means(values, BlockSums<UInt16>(width: width, height: height, channels: 1, factor: factor))
      : means(values, BlockSums<UInt32>(width: width, height: height, channels: 1, factor: factor))
  }

  @inline(__always)
  private static func means<Sum>(
    _ values: [UInt8], _ given: consuming BlockSums<Sum>
  ) -> (values: [UInt8], width: Int, height: Int) {
    var blocks = given
    let (columns, rows, across) = (blocks.columns, blocks.rows, blocks.across)
    let area = across &* blocks.down
    let (quotient, half) = (BlockQuotient(area), UInt32(area / 2))
    var reduced = [UInt8](repeating: 0, count: columns * rows)
    values.withUnsafeBufferPointer { values in
      reduced.withUnsafeMutableBufferPointer { reduced in
        for row in 0..<rows {
          let start = row &* columns
          blocks.withRow(row, of: values) { sums in
            for column in 0..<columns {
              reduced[start &+ column] = quotient.of(
                UInt32(truncatingIfNeeded: sums[column &* across]) &+ half)
            }
          }
        }
      }
    }
    return (reduced, columns, rows)
  }

  /// A picture of 8-bit RGB as the brightness of its blocks, with the number of clipped pixels among those in the
  /// middle of the blocks.
  struct Brightness {
    var gray: [UInt8]
    var width: Int
    var height: Int
    /// Pixels all of whose channels are at most `darkLevel`.
    var dark: Int
    /// Pixels with a channel of at least `brightLevel`.
    var bright: Int
  }

  /// Brightness by the weights of BT.601 in 256ths, as the exports' gray pictures have them, of blocks of `factor` ×
  /// `factor` pixels, rounded to nearest; what is left at the right and at the bottom is left out. `nil` if the bytes
  /// are not those of the size, for factors above 256, and without a whole block. Cost: one pass over the bytes.
  ///
  /// - Parameter wanted: rows of blocks, of which there must be so many; nothing clipped is counted in them. `nil` for
  ///   all.
  static func brightness(
    rgb: [UInt8], width: Int, height: Int, by factor: Int, rows wanted: Range<Int>? = nil,
    darkLevel: UInt8, brightLevel: UInt8
  ) -> Brightness? {
    guard width > 0, height > 0, factors.contains(factor), factor <= min(width, height),
      rgb.count / 3 / width == height, rgb.count == 3 * width * height
    else { return nil }
    let rows = wanted ?? 0..<height / factor
    guard rows.lowerBound >= 0, rows.upperBound <= height / factor else { return nil }
    // A constant for each call, so that the loop is made without the counting where nothing is counted.
    switch (BlockSums<UInt16>.holds(factor), wanted == nil) {
    case (true, true):
      let sums = BlockSums<UInt16>(width: width, height: height, channels: 3, factor: factor)
      return brightness(rgb, width, sums, rows, darkLevel, brightLevel, countsClipped: true)
    case (true, false):
      let sums = BlockSums<UInt16>(width: width, height: height, channels: 3, factor: factor)
      return brightness(rgb, width, sums, rows, darkLevel, brightLevel, countsClipped: false)
    case (false, let isWhole):
      let sums = BlockSums<UInt32>(width: width, height: height, channels: 3, factor: factor)
      return brightness(rgb, width, sums, rows, darkLevel, brightLevel, countsClipped: isWhole)
    }
  }

  @inline(__always)
  private static func brightness<Sum>(
    _ rgb: [UInt8], _ width: Int, _ given: consuming BlockSums<Sum>, _ wanted: Range<Int>,
    _ darkLevel: UInt8, _ brightLevel: UInt8, countsClipped: Bool
  ) -> Brightness {
    var blocks = given
    let (columns, rows, across, down) = (blocks.columns, wanted.count, blocks.across, blocks.down)
    let area = across &* down
    let (quotient, half) = (BlockQuotient(area), UInt32(128 &* area))
    // A channel of at least `brightLevel`, or above `darkLevel`, reaches 256 with these added.
    let (toBright, toLit) = (256 &- UInt32(brightLevel), 255 &- UInt32(darkLevel))
    var gray = [UInt8](repeating: 0, count: columns * rows)
    var (bright, lit): (UInt32, UInt32) = (0, 0)
    rgb.withUnsafeBufferPointer { rgb in
      gray.withUnsafeMutableBufferPointer { gray in
        for row in wanted {
          let start = (row &- wanted.lowerBound) &* columns
          let middle = ((row &* down &+ down / 2) &* width &+ across / 2) &* 3
          blocks.withRow(row, of: rgb) { sums in
            for column in 0..<columns {
              let at = column &* across &* 3
              let weighted =
                77 &* UInt32(truncatingIfNeeded: sums[at])
                &+ 150 &* UInt32(truncatingIfNeeded: sums[at &+ 1])
                &+ 29 &* UInt32(truncatingIfNeeded: sums[at &+ 2])
              gray[start &+ column] = quotient.of((weighted &+ half) &>> 8)
              guard countsClipped else { continue }
              let pixel = middle &+ at
              let (r, g, b) = (
                UInt32(rgb[pixel]), UInt32(rgb[pixel &+ 1]), UInt32(rgb[pixel &+ 2])
              )
              bright &+= ((r &+ toBright) | (g &+ toBright) | (b &+ toBright)) &>> 8 & 1
              lit &+= ((r &+ toLit) | (g &+ toLit) | (b &+ toLit)) &>> 8 & 1
            }
          }
        }
      }
    }
    return Brightness(
      gray: gray, width: columns, height: rows, dark: columns * rows - Int(lit), bright: Int(bright)
    )
  }
}

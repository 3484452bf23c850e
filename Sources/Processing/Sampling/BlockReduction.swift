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

/// Division of sums by the number of pixels of a block, as a product.
struct BlockQuotient {
  private let factor: UInt64

  /// - Parameter divisor: 1 to 2¹⁶; others count as the nearest of these.
  init(_ divisor: Int) {
    let divisor = UInt64(min(max(1, divisor), 1 << 16))
    factor = ((1 << 48) + divisor - 1) / divisor
  }

  /// The quotient, rounded down, for sums of less than 256 times the divisor.
  ///
  /// Exact: times the divisor, `factor` is above 2⁴⁸ by less than 2¹⁶, and sums are below 2²⁴.
  @inline(__always)
  func of(_ sum: UInt32) -> UInt8 {
    UInt8(truncatingIfNeeded: (UInt64(sum) &* factor) &>> 48)
  }
}

/// The sums of the blocks of a picture, row by row of blocks, by which it is made smaller by a whole factor.
///
/// Make one per picture; the memory is that of two rows. Values of one pixel lie side by side.
struct BlockSums<Sum: FixedWidthInteger & UnsignedInteger & Sendable>: ~Copyable {
  /// Pixels of a block.
  let across: Int
  let down: Int
  /// Blocks. What is left at the right and at the bottom is left out.
  let columns: Int
  let rows: Int
  /// Values of a pixel.
  private let channels: Int
  /// Values of a row of the picture.
  private let stride: Int
  /// Over the lines of a row of blocks, one for each value of a line.
  private var lineSums: [Sum]
  /// Sums of as many pixels as a block is wide, beginning at each value.
  private var blockSums: [Sum]

  /// Whether `Sum` holds the sums of blocks of `factor` × `factor` bytes.
  static func holds(_ factor: Int) -> Bool {
    factor <= 256 && UInt64(255 * factor * factor) <= UInt64(truncatingIfNeeded: Sum.max)
  }

  /// - Precondition: sides of at least a pixel, and a factor that `Sum` holds.
  ///
  /// - Parameters:
  ///   - width: of the picture in pixels, as `height`.
  ///   - factor: pixels of a block in both directions; of a side that is shorter the whole side.
  init(width: Int, height: Int, channels: Int, factor: Int) {
    across = min(factor, width)
    down = min(factor, height)
    columns = width / across
    rows = height / down
    self.channels = channels
    stride = width * channels
    lineSums = [Sum](repeating: 0, count: columns * across * channels)
    blockSums = lineSums
  }

  /// The sums of a row of blocks. Those of a block begin at `column · across · channels`.
  ///
  /// Cost: a pass over the lines of the row. Every loop runs over neighboring values, so that many are added at once:
  /// sums that begin inside of a block are made, too, and not used, which costs less than to leave them out.
  @inline(__always)
  mutating func withRow<Result>(
    _ row: Int, of values: UnsafeBufferPointer<UInt8>,
    _ body: (UnsafeBufferPointer<Sum>) -> Result
  ) -> Result {
    let (stride, down, count) = (stride, down, lineSums.count)
    let first = row &* down &* stride
    return lineSums.withUnsafeMutableBufferPointer { lines in
      if down >= 3 {
        for at in 0..<count {
          lines[at] =
            Sum(truncatingIfNeeded: values[first &+ at])
            &+ Sum(truncatingIfNeeded: values[first &+ stride &+ at])
            &+ Sum(truncatingIfNeeded: values[first &+ 2 &* stride &+ at])
        }
      } else {
        for at in 0..<count { lines[at] = Sum(truncatingIfNeeded: values[first &+ at]) }
      }
      var line = down >= 3 ? 3 : 1
      while line < down {
        let start = first &+ line &* stride
        for at in 0..<count { lines[at] &+= Sum(truncatingIfNeeded: values[start &+ at]) }
        line &+= 1
      }
      return blockSums.withUnsafeMutableBufferPointer { blocks in
        let used = count &- (across &- 1) &* channels
        if across >= 3 {
          for at in 0..<used {
            blocks[at] = lines[at] &+ lines[at &+ channels] &+ lines[at &+ 2 &* channels]
          }
        } else {
          for at in 0..<used { blocks[at] = lines[at] }
        }
        var pixel = across >= 3 ? 3 : 1
        while pixel < across {
          let shift = pixel &* channels
          for at in 0..<used { blocks[at] &+= lines[at &+ shift] }
          pixel &+= 1
        }
        return body(UnsafeBufferPointer(blocks))
      }
    }
  }
}

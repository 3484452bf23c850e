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

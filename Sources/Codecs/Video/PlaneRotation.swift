/// Turns the elements of a plane by multiples of 90°.
enum PlaneRotation {
  /// Writes the plane, turned clockwise by `turns` quarter turns, to `target`.
  ///
  /// Width, height and strides are those of each side's own orientation, strides in bytes; both memories
  /// must hold their plane. Elements are 1 to 8 bytes.
  static func turn(
    _ source: UnsafeRawPointer, stride sourceStride: Int, width: Int, height: Int,
    elementBytes: Int, turns: Int, into target: UnsafeMutableRawPointer, stride targetStride: Int
  ) {
    switch turns {
    case 1, 3:
      if elementBytes == 1 {
        turnBytes(
          source, sourceStride, width, height, isClockwise: turns == 1, target, targetStride)
      } else {
        turnElements(
          source, sourceStride, width, height, elementBytes, isClockwise: turns == 1, target,
          targetStride)
      }
    case 2:
      turnHalf(source, sourceStride, width, height, elementBytes, target, targetStride)
    default:
      for y in 0..<height {
        (target + y * targetStride).copyMemory(
          from: source + y * sourceStride, byteCount: width * elementBytes)
      }
    }
  }

  private static func turnHalf(
    _ source: UnsafeRawPointer, _ sourceStride: Int, _ width: Int, _ height: Int,
    _ elementBytes: Int, _ target: UnsafeMutableRawPointer, _ targetStride: Int
  ) {
    for y in 0..<height {
      let row = source + (height - 1 - y) * sourceStride
      let out = target + y * targetStride
      var x = 0
      if elementBytes == 1 {
        while x &+ 8 <= width {
          let word = row.loadUnaligned(fromByteOffset: width &- 8 &- x, as: UInt64.self)
          out.storeBytes(of: word.byteSwapped, toByteOffset: x, as: UInt64.self)
          x &+= 8
        }
      }
      while x < width {
        copyElement(
          from: row, at: (width &- 1 &- x) &* elementBytes, to: out, at: x &* elementBytes,
          elementBytes)
        x &+= 1
      }
    }
  }

  /// Blocks of 8x8 bytes are transposed in registers; what is left over at two edges, byte by byte.
  private static func turnBytes(
    _ source: UnsafeRawPointer, _ sourceStride: Int, _ width: Int, _ height: Int,
    isClockwise: Bool, _ target: UnsafeMutableRawPointer, _ targetStride: Int
  ) {
    let wholeWidth = width & ~7
    let wholeHeight = height & ~7
    var x = 0
    while x < wholeWidth {
      var y = 0
      while y < wholeHeight {
        let block = transposed(source + (y &* sourceStride &+ x), sourceStride)
        // Row k of the transposed block holds column x + k, rows y … y + 7.
        for k in 0..<8 {
          if isClockwise {
            let out = target + ((x &+ k) &* targetStride &+ height &- 8 &- y)
            out.storeBytes(of: block[k].byteSwapped, as: UInt64.self)
          } else {
            let out = target + ((width &- 1 &- x &- k) &* targetStride &+ y)
            out.storeBytes(of: block[k], as: UInt64.self)
          }
        }
        y &+= 8
      }
      x &+= 8
    }
    for y in 0..<height {
      for x in (y < wholeHeight ? wholeWidth : 0)..<width {
        let byte = source.load(fromByteOffset: y &* sourceStride &+ x, as: UInt8.self)
        let place =
          isClockwise
          ? x &* targetStride &+ height &- 1 &- y : (width &- 1 &- x) &* targetStride &+ y
        target.storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
      }
    }
  }

  /// The 8x8 bytes at `source`, columns as rows: swaps of bytes, pairs and quadruples between rows
  /// (Hacker's Delight, 7-3).
  @inline(__always)
  private static func transposed(_ source: UnsafeRawPointer, _ stride: Int) -> SIMD8<UInt64> {
    var rows = SIMD8<UInt64>()
    for k in 0..<8 {
      rows[k] = UInt64(
        littleEndian: source.loadUnaligned(fromByteOffset: k &* stride, as: UInt64.self))
    }
    for (distance, mask) in [
      (1, 0x00ff_00ff_00ff_00ff as UInt64), (2, 0x0000_ffff_0000_ffff), (4, 0x0000_0000_ffff_ffff),
    ] {
      let shift = UInt64(truncatingIfNeeded: distance &* 8)
      for k in 0..<8 where k & distance == 0 {
        let swap = ((rows[k] &>> shift) ^ rows[k &+ distance]) & mask
        rows[k] ^= swap &<< shift
        rows[k &+ distance] ^= swap
      }
    }
    return rows
  }

  /// In blocks, so that the lines of both sides stay in the cache.
  private static func turnElements(
    _ source: UnsafeRawPointer, _ sourceStride: Int, _ width: Int, _ height: Int,
    _ elementBytes: Int, isClockwise: Bool, _ target: UnsafeMutableRawPointer, _ targetStride: Int
  ) {
    let block = 32
    var blockY = 0
    while blockY < height {
      let endY = min(blockY &+ block, height)
      var x = 0
      while x < width {
        let outRow = target + (isClockwise ? x : width &- 1 &- x) &* targetStride
        var y = blockY
        while y < endY {
          copyElement(
            from: source, at: y &* sourceStride &+ x &* elementBytes, to: outRow,
            at: (isClockwise ? height &- 1 &- y : y) &* elementBytes, elementBytes)
          y &+= 1
        }
        x &+= 1
      }
      blockY = endY
    }
  }

  @inline(__always)
  private static func copyElement(
    from source: UnsafeRawPointer, at offset: Int, to target: UnsafeMutableRawPointer,
    at place: Int, _ bytes: Int
  ) {
    var k = 0
    while k < bytes {
      target.storeBytes(
        of: source.load(fromByteOffset: offset &+ k, as: UInt8.self), toByteOffset: place &+ k,
        as: UInt8.self)
      k &+= 1
    }
  }
}

/// Turns the elements of a plane by multiples of 90° and mirrors them.
enum PlaneRotation {
  /// Mirrors left and right in place. Elements have 1 to 8 bytes; width is in elements, stride in
  /// bytes.
  static func mirror(
    _ plane: UnsafeMutableRawPointer, stride: Int, width: Int, height: Int, elementBytes: Int
  ) {
    for y in 0..<height {
      let row = UnsafeMutableRawBufferPointer(
        start: plane + y * stride, count: width * elementBytes)
      var (left, right) = (0, (width - 1) * elementBytes)
      while left < right {
        for byte in 0..<elementBytes { row.swapAt(left + byte, right + byte) }
        left += elementBytes
        right -= elementBytes
      }
    }
  }

  /// Writes the plane, turned clockwise by `turns` quarter turns, to `target`.
  ///
  /// Width, height and strides refer to the orientation of source and target respectively; strides
  /// are in bytes, and both memories must hold their plane. Elements have 1 to 8 bytes.
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

  /// Transposes blocks of 8x8 bytes in registers, 64 of them in sequence so that the lines of both
  /// planes stay in the cache. The rest at two edges is done byte by byte.
  private static func turnBytes(
    _ source: UnsafeRawPointer, _ sourceStride: Int, _ width: Int, _ height: Int,
    isClockwise: Bool, _ target: UnsafeMutableRawPointer, _ targetStride: Int
  ) {
    let wholeWidth = width & ~7
    let wholeHeight = height & ~7
    var tile = 0
    let tilesAcross = (wholeWidth + 63) / 64
    let tiles = tilesAcross * ((wholeHeight + 63) / 64)
    while tile < tiles {
      let left = tile % tilesAcross &* 64
      let top = tile / tilesAcross &* 64
      let right = min(left &+ 64, wholeWidth)
      let bottom = min(top &+ 64, wholeHeight)
      var x = left
      while x < right {
        var y = top
        while y < bottom {
          // For a clockwise turn the lowest row comes first.
          if isClockwise {
            transposeBlock(
              source + ((y &+ 7) &* sourceStride &+ x), 0 &- sourceStride,
              target + (x &* targetStride &+ height &- 8 &- y), targetStride)
          } else {
            transposeBlock(
              source + (y &* sourceStride &+ x), sourceStride,
              target + ((width &- 1 &- x) &* targetStride &+ y), 0 &- targetStride)
          }
          y &+= 8
        }
        x &+= 8
      }
      tile &+= 1
    }
    for y in 0..<height {
      for x in (y < wholeHeight ? wholeWidth : 0)..<width {
        let byte = source.load(fromByteOffset: y &* sourceStride &+ x, as: UInt8.self)
        let targetOffset =
          isClockwise
          ? x &* targetStride &+ height &- 1 &- y : (width &- 1 &- x) &* targetStride &+ y
        target.storeBytes(of: byte, toByteOffset: targetOffset, as: UInt8.self)
      }
    }
  }

  /// Transposes the 8x8 bytes at `source` by exchanging bytes, pairs and quadruples between rows
  /// (Hacker's Delight, 7-3).
  @inline(__always)
  private static func transposeBlock(
    _ source: UnsafeRawPointer, _ sourceStride: Int, _ target: UnsafeMutableRawPointer,
    _ targetStride: Int
  ) {
    @inline(__always) func row(_ k: Int) -> UInt64 {
      UInt64(
        littleEndian: source.loadUnaligned(fromByteOffset: k &* sourceStride, as: UInt64.self))
    }
    @inline(__always) func put(_ row: UInt64, _ k: Int) {
      target.storeBytes(of: row.littleEndian, toByteOffset: k &* targetStride, as: UInt64.self)
    }
    var (r0, r1, r2, r3) = (row(0), row(1), row(2), row(3))
    var (r4, r5, r6, r7) = (row(4), row(5), row(6), row(7))
    exchange(&r0, &r1, 8, 0x00ff_00ff_00ff_00ff)
    exchange(&r2, &r3, 8, 0x00ff_00ff_00ff_00ff)
    exchange(&r4, &r5, 8, 0x00ff_00ff_00ff_00ff)
    exchange(&r6, &r7, 8, 0x00ff_00ff_00ff_00ff)
    exchange(&r0, &r2, 16, 0x0000_ffff_0000_ffff)
    exchange(&r1, &r3, 16, 0x0000_ffff_0000_ffff)
    exchange(&r4, &r6, 16, 0x0000_ffff_0000_ffff)
    exchange(&r5, &r7, 16, 0x0000_ffff_0000_ffff)
    exchange(&r0, &r4, 32, 0x0000_0000_ffff_ffff)
    exchange(&r1, &r5, 32, 0x0000_0000_ffff_ffff)
    exchange(&r2, &r6, 32, 0x0000_0000_ffff_ffff)
    exchange(&r3, &r7, 32, 0x0000_0000_ffff_ffff)
    put(r0, 0)
    put(r1, 1)
    put(r2, 2)
    put(r3, 3)
    put(r4, 4)
    put(r5, 5)
    put(r6, 6)
    put(r7, 7)
  }

  /// Exchanges the upper part of each field of `a` with the lower part of that of `b`.
  @inline(__always)
  private static func exchange(
    _ a: inout UInt64, _ b: inout UInt64, _ shift: UInt64, _ mask: UInt64
  ) {
    let swap = ((a &>> shift) ^ b) & mask
    b ^= swap
    a ^= swap &<< shift
  }

  /// Turns elements in blocks, so that the lines of both planes stay in the cache.
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
    at targetOffset: Int, _ bytes: Int
  ) {
    var k = 0
    while k < bytes {
      target.storeBytes(
        of: source.load(fromByteOffset: offset &+ k, as: UInt8.self),
        toByteOffset: targetOffset &+ k,
        as: UInt8.self)
      k &+= 1
    }
  }
}

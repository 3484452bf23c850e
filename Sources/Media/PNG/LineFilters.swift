/// Reverses the filters of PNG lines in place.
enum LineFilters {
  /// `lines` holds `height` lines: a filter byte, then `rowBytes` predicted bytes. Afterward the
  /// rows are contiguous from its start.
  ///
  /// A row ends before the line that it comes from does: no byte is overwritten before it was read.
  ///
  /// - Returns: `false` for an unknown filter.
  static func undo(
    _ lines: UnsafeMutableRawBufferPointer, rowBytes: Int, height: Int, pixelBytes: Int
  ) -> Bool {
    guard let base = lines.baseAddress, lines.count >= (rowBytes + 1) * height, rowBytes > 0 else {
      return false
    }
    // The row above the first row.
    let zeros = [UInt8](repeating: 0, count: rowBytes)
    return zeros.withUnsafeBytes { zeros in
      guard var above = zeros.baseAddress else { return false }
      for y in 0..<height {
        let line = UnsafeRawPointer(base) + y * (rowBytes + 1)
        let row = base + y * rowBytes
        let kernel: Kernel
        switch line.load(as: UInt8.self) {
        case 0: kernel = copy
        case 1: kernel = sub
        case 2: kernel = up
        case 3: kernel = average
        case 4: kernel = paeth
        default: return false
        }
        kernel(line + 1, above, row, rowBytes, pixelBytes)
        above = UnsafeRawPointer(row)
      }
      return true
    }
  }

  /// Computes a row from a line and the row above. The row may begin before the line and overlap
  /// it; reads are always ahead of writes.
  private typealias Kernel = (
    _ line: UnsafeRawPointer, _ above: UnsafeRawPointer, _ row: UnsafeMutableRawPointer,
    _ count: Int, _ pixelBytes: Int
  ) -> Void

  private static func copy(
    _ line: UnsafeRawPointer, _ above: UnsafeRawPointer, _ row: UnsafeMutableRawPointer,
    _ count: Int, _ pixelBytes: Int
  ) {
    row.copyMemory(from: line, byteCount: count)
  }

  private static func up(
    _ line: UnsafeRawPointer, _ above: UnsafeRawPointer, _ row: UnsafeMutableRawPointer,
    _ count: Int, _ pixelBytes: Int
  ) {
    var i = 0
    // Explicitly 16 bytes at a time, because the compiler cannot know that the overlap is harmless.
    while i <= count - 16 {
      let value =
        line.loadUnaligned(fromByteOffset: i, as: SIMD16<UInt8>.self)
        &+ above.loadUnaligned(fromByteOffset: i, as: SIMD16<UInt8>.self)
      row.storeBytes(of: value, toByteOffset: i, as: SIMD16<UInt8>.self)
      i &+= 16
    }
    while i < count {
      row.store(byte(line, i) &+ byte(above, i), i)
      i &+= 1
    }
  }

  private static func sub(
    _ line: UnsafeRawPointer, _ above: UnsafeRawPointer, _ row: UnsafeMutableRawPointer,
    _ count: Int, _ pixelBytes: Int
  ) {
    switch pixelBytes {
    case 1: sub1(line, row, count)
    case 2: sub2(line, row, count)
    default: sub3(line, row, count)
    }
  }

  // The sums stay in registers: reading them back from the row takes several times as long.

  private static func sub1(_ line: UnsafeRawPointer, _ row: UnsafeMutableRawPointer, _ count: Int) {
    var a: UInt8 = 0
    for i in 0..<count {
      a &+= byte(line, i)
      row.store(a, i)
    }
  }

  private static func sub2(_ line: UnsafeRawPointer, _ row: UnsafeMutableRawPointer, _ count: Int) {
    var (a0, a1): (UInt8, UInt8) = (0, 0)
    var i = 0
    while i < count &- 1 {
      a0 &+= byte(line, i)
      a1 &+= byte(line, i &+ 1)
      row.store(a0, i)
      row.store(a1, i &+ 1)
      i &+= 2
    }
  }

  private static func sub3(_ line: UnsafeRawPointer, _ row: UnsafeMutableRawPointer, _ count: Int) {
    var (a0, a1, a2): (UInt8, UInt8, UInt8) = (0, 0, 0)
    var i = 0
    while i < count &- 2 {
      a0 &+= byte(line, i)
      a1 &+= byte(line, i &+ 1)
      a2 &+= byte(line, i &+ 2)
      row.store(a0, i)
      row.store(a1, i &+ 1)
      row.store(a2, i &+ 2)
      i &+= 3
    }
  }

  private static func average(
    _ line: UnsafeRawPointer, _ above: UnsafeRawPointer, _ row: UnsafeMutableRawPointer,
    _ count: Int, _ pixelBytes: Int
  ) {
    var i = 0
    while i < count {
      let left = i < pixelBytes ? 0 : UInt16(row.byte(i &- pixelBytes))
      let mean = (left &+ UInt16(byte(above, i))) &>> 1
      row.store(byte(line, i) &+ UInt8(truncatingIfNeeded: mean), i)
      i &+= 1
    }
  }

  private static func paeth(
    _ line: UnsafeRawPointer, _ above: UnsafeRawPointer, _ row: UnsafeMutableRawPointer,
    _ count: Int, _ pixelBytes: Int
  ) {
    // Without a left neighbor the prediction is the pixel above.
    let head = min(pixelBytes, count)
    up(line, above, row, head, pixelBytes)
    // The bytes of a pixel are independent of each other; each depends on its left neighbor only.
    switch pixelBytes {
    case 1: paeth1(line, above, row, count)
    case 2: paeth2(line, above, row, count)
    default: paeth3(line, above, row, count)
    }
  }

  private static func paeth1(
    _ line: UnsafeRawPointer, _ above: UnsafeRawPointer, _ row: UnsafeMutableRawPointer,
    _ count: Int
  ) {
    var a = Int32(row.byte(0))
    var c = Int32(byte(above, 0))
    var i = 1
    while i < count {
      (a, c) = step(line, above, row, i, a, c)
      i &+= 1
    }
  }

  private static func paeth2(
    _ line: UnsafeRawPointer, _ above: UnsafeRawPointer, _ row: UnsafeMutableRawPointer,
    _ count: Int
  ) {
    var (a0, a1) = (Int32(row.byte(0)), Int32(row.byte(1)))
    var (c0, c1) = (Int32(byte(above, 0)), Int32(byte(above, 1)))
    var i = 2
    while i < count {
      (a0, c0) = step(line, above, row, i, a0, c0)
      (a1, c1) = step(line, above, row, i &+ 1, a1, c1)
      i &+= 2
    }
  }

  private static func paeth3(
    _ line: UnsafeRawPointer, _ above: UnsafeRawPointer, _ row: UnsafeMutableRawPointer,
    _ count: Int
  ) {
    var (a0, a1, a2) = (Int32(row.byte(0)), Int32(row.byte(1)), Int32(row.byte(2)))
    var (c0, c1, c2) = (Int32(byte(above, 0)), Int32(byte(above, 1)), Int32(byte(above, 2)))
    var i = 3
    while i < count {
      (a0, c0) = step(line, above, row, i, a0, c0)
      (a1, c1) = step(line, above, row, i &+ 1, a1, c1)
      (a2, c2) = step(line, above, row, i &+ 2, a2, c2)
      i &+= 3
    }
  }

  /// Adds the Paeth prediction: of a (left), b (above) and c (above left), the one nearest to a + b
  /// - c, the first of them on a tie. That is the smaller of a and b where 3c - a - b is at least the
  /// larger one, the larger one where it is at most the smaller one, and c in between; a is needed
  /// for fewer steps, one after the other, than distances take. Returns the left and above-left neighbors of the next pixel.
  @inline(__always)
  private static func step(
    _ line: UnsafeRawPointer, _ above: UnsafeRawPointer, _ row: UnsafeMutableRawPointer, _ i: Int,
    _ a: Int32, _ c: Int32
  ) -> (a: Int32, c: Int32) {
    let b = Int32(byte(above, i))
    let threshold = (c &* 3 &- b) &- a
    let low = min(a, b)
    let high = max(a, b)
    let lowOrC = high <= threshold ? low : c
    let nearest = threshold <= low ? high : lowOrC
    let value = byte(line, i) &+ UInt8(truncatingIfNeeded: nearest)
    row.store(value, i)
    return (Int32(value), b)
  }

  @inline(__always)
  private static func byte(_ pointer: UnsafeRawPointer, _ i: Int) -> UInt8 {
    pointer.load(fromByteOffset: i, as: UInt8.self)
  }
}

extension UnsafeMutableRawPointer {
  @inline(__always)
  fileprivate func byte(_ i: Int) -> UInt8 { load(fromByteOffset: i, as: UInt8.self) }

  @inline(__always)
  fileprivate func store(_ value: UInt8, _ i: Int) {
    storeBytes(of: value, toByteOffset: i, as: UInt8.self)
  }
}

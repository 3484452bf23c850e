/// The buffer into which surfaces are drawn: 1/Z (1/mm) per output pixel, 0 = nothing; the largest
/// value wins. The initial content of the storage does not matter: rows are cleared before they are
/// drawn to.
///
/// The picture is padded by two rows and columns on every side, so that a box of three by three
/// pixels that touches the picture can be written without clipping. Padding is never read.
struct InverseDepthTarget {
  static let padding = 2

  /// First value of row `rows.lowerBound`, column 0.
  let origin: UnsafeMutablePointer<Float>
  let stride: Int
  let width: Int
  /// The rows of the picture that this target holds.
  let rows: Range<Int>

  static func stride(width: Int) -> Int { width + 2 * padding }
  /// Most values that a target may hold: single precision counts offsets exactly up to here.
  private static let largestCount = 1 << 22

  /// How many of `rows` rows one target can hold: all, for pictures up to four million pixels.
  static func largestRows(width: Int, rows: Int) -> Int {
    max(1, min(rows, largestCount / stride(width: width) - 2 * padding - 1))
  }

  /// Number of values that `rows` rows need.
  static func count(width: Int, rows: Int) -> Int {
    stride(width: width) * (rows + 2 * padding) + 4
  }

  /// `storage` must hold `count(width:rows:)` values.
  init(storage: UnsafeMutablePointer<Float>, width: Int, rows: Range<Int>) {
    stride = Self.stride(width: width)
    origin = storage + Self.padding * stride + Self.padding
    self.width = width
    self.rows = rows
  }

  /// First value of a row of the picture.
  @inline(__always)
  func row(_ y: Int) -> UnsafeMutablePointer<Float> { origin + (y &- rows.lowerBound) &* stride }

  /// Clears the rows up to the one that holds `v`, and one more, unless they are cleared already.
  ///
  /// A target is cleared row by row as drawing proceeds, so that the rows are in the nearest cache
  /// when they are drawn to. `cleared` is the number of cleared rows.
  @inline(__always)
  func clear(downTo v: Float, _ cleared: inout Int) {
    let end = v < Float(rows.upperBound) ? Int(v) &+ 2 &- rows.lowerBound : rows.count
    while cleared < min(end, rows.count) {
      (origin + cleared &* stride).update(repeating: 0, count: width)
      cleared &+= 1
    }
  }

  /// Writes the millimeters of a target with the given storage; the storage is not changed.
  static func convert(
    _ storage: UnsafePointer<Float>, width: Int, rows: Int,
    into output: UnsafeMutablePointer<UInt16>
  ) {
    let stride = stride(width: width)
    for y in 0..<rows {
      let source = storage + (y &+ padding) &* stride + padding
      convert(row: source, width: width, into: output + y &* width)
    }
  }

  @inline(__always)
  private static func convert(
    row: UnsafePointer<Float>, width: Int, into output: UnsafeMutablePointer<UInt16>
  ) {
    var x = 0
    // Eight at a time: eight 16-bit words are one store.
    while x <= width &- 8 {
      let low = millimeters(row.four(x))
      let high = millimeters(row.four(x &+ 4))
      let pair = SIMD8<UInt32>(lowHalf: low, highHalf: high)
      let words = unsafeBitCast(pair, to: SIMD16<UInt16>.self).evenHalf
      UnsafeMutableRawPointer(output + x).storeBytes(of: words, as: SIMD8<UInt16>.self)
      x &+= 8
    }
    while x < width {
      output[x] = UInt16(truncatingIfNeeded: millimeters(Four(repeating: row[x]))[0])
      x &+= 1
    }
  }

  /// Millimeters, in the low 16 bits, from 1/Z: floor(Z + 0.5); 0 for no value and for depths below
  /// 1 or above 65,535.
  ///
  /// Z is raised by 2⁻²¹ of its value so that exact halves round up in spite of the rounding of
  /// 1/Z.
  @inline(__always)
  private static func millimeters(_ w: Four) -> FourBits {
    let z = (1 / w) * (1 + 0x1p-21) + 0.5
    let bounded = keep(z, where: bits(z .< Four(repeating: 65_536)))
    // Adding 2²³ rounds to an integer in the low bits. Rounding up is undone by adding the
    // comparison, whose set bits are −1.
    let rounded = bounded + 8_388_608
    return bits(rounded) &+ bits((rounded - 8_388_608) .> bounded)
  }
}

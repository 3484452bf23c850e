import CPlatform

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

  /// How many rows of a picture stay in the near cache while they are drawn to and converted.
  static func nearRows(width: Int) -> Int { max(1, nearCount / stride(width: width)) }
  private static let nearCount = 96 << 10

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

  /// Whether some of these lines, of which there are none without vertices, are among the rows.
  func isReached(by lines: ClosedRange<Float>?) -> Bool {
    guard let lines else { return false }
    return lines.upperBound >= Float(rows.lowerBound)
      && lines.lowerBound <= Float(rows.upperBound - 1)
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
      scanmill_millimeters(
        hasWide, storage + (y &+ padding) &* stride + padding, Int64(width), output + y &* width)
    }
  }

  /// Whether the processor has the instructions for the faster of two equal loops.
  static let hasWide = scanmill_gray_has_wide()
}

import Core

/// A color picture to sample from, valid while its memory stays in place.
struct SourcePicture {
  private let rgb: UnsafePointer<UInt8>
  private let right, bottom: Int
  private let rowBytes: Int

  /// `rgb` holds width × height × 3 bytes and the picture is not empty.
  init(_ rgb: UnsafePointer<UInt8>, width: Int, height: Int) {
    self.rgb = rgb
    right = width - 1
    bottom = height - 1
    rowBytes = 3 * width
  }

  /// The color at a finite position, interpolated between the four pixels around it (pixel centers
  /// at integers), each channel rounded to nearest. Beyond the outermost centers the border pixels
  /// are used.
  @inline(__always)
  func bilinear(_ position: (x: Float, y: Float)) -> (red: UInt8, green: UInt8, blue: UInt8) {
    let x = min(max(position.x, 0), Float(right))
    let y = min(max(position.y, 0), Float(bottom))
    let (column, row) = (Int(x), Int(y))
    let (fx, fy) = (x - Float(column), y - Float(row))
    let upper = rgb + (row &* rowBytes &+ 3 &* column)
    let lower = upper + (row < bottom ? rowBytes : 0)
    let next = column < right ? 3 : 0
    return (
      Self.mix(upper, lower, next, 0, fx, fy), Self.mix(upper, lower, next, 1, fx, fy),
      Self.mix(upper, lower, next, 2, fx, fy)
    )
  }

  @inline(__always)
  private static func mix(
    _ upper: UnsafePointer<UInt8>, _ lower: UnsafePointer<UInt8>, _ next: Int, _ channel: Int,
    _ fx: Float, _ fy: Float
  ) -> UInt8 {
    let (a, b) = (Float(upper[channel]), Float(upper[channel &+ next]))
    let (c, d) = (Float(lower[channel]), Float(lower[channel &+ next]))
    let above = a + fx * (b - a)
    let value = above + fy * (c + fx * (d - c) - above)
    // Adding 2²³ leaves the integer part of a small positive number in the low bits, rounded to
    // nearest.
    return UInt8(truncatingIfNeeded: (value + 8_388_608).bitPattern)
  }
}

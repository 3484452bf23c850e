import Geometry

extension ColorImage {
  /// The color between the four pixels around a position (pixel centers at integers), each channel
  /// rounded to nearest; outside the outermost centers the border pixels go on.
  ///
  /// The picture is not empty and the position finite.
  func bilinear(_ position: (x: Float, y: Float)) -> (red: UInt8, green: UInt8, blue: UInt8) {
    let x = min(max(position.x, 0), Float(width - 1))
    let y = min(max(position.y, 0), Float(height - 1))
    let (left, top) = (Int(x), Int(y))
    let (right, below) = (min(left + 1, width - 1), min(top + 1, height - 1))
    let (fx, fy) = (x - Float(left), y - Float(top))
    func channel(_ c: Int) -> UInt8 {
      func value(_ column: Int, _ row: Int) -> Float { Float(rgb[3 * (row * width + column) + c]) }
      let upper = value(left, top) + fx * (value(right, top) - value(left, top))
      let lower = value(left, below) + fx * (value(right, below) - value(left, below))
      return UInt8(upper + fy * (lower - upper) + 0.5)
    }
    return (channel(0), channel(1), channel(2))
  }
}

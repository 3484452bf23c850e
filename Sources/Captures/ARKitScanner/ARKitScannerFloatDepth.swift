import Core

/// Converts pictures of float32 meters.
enum ARKitScannerFloatDepth {
  static let bytesPerPixel = 4

  /// Converts little-endian float32 meters to millimeters: rounded to nearest, half away from zero;
  /// 0 for values that are not finite, negative or above 65,535 after rounding. `pixels` is
  /// resized.
  ///
  /// Returns whether any value was NaN or infinite, and how many were above 100 m. A float times
  /// 1000 is exact in double precision, and so is adding one half. Truncation then rounds half up,
  /// which for positive values is away from zero.
  static func convert(
    _ meters: RawSpan, into pixels: inout [UInt16]
  ) -> (hasNonFinite: Bool, tooFar: Int) {
    let count = meters.byteCount / bytesPerPixel
    if pixels.count != count { pixels = [UInt16](repeating: 0, count: count) }
    let limit = Double(PlausibleValues.depthMillimeters.upperBound)
    var allFinite = true
    var tooFar = 0
    var output = pixels.mutableSpan
    for i in 0..<count {
      let bits = meters.unsafeLoadUnaligned(fromUncheckedByteOffset: i &* 4, as: UInt32.self)
      let value = Float(bitPattern: UInt32(littleEndian: bits))
      let millimeters = Double(value) * 1000
      // False for NaN.
      let fits = millimeters >= 0 && millimeters < 65_535.5
      output[unchecked: i] = fits ? UInt16(truncatingIfNeeded: Int32(millimeters + 0.5)) : 0
      allFinite = allFinite && value.isFinite
      if millimeters > limit && value.isFinite { tooFar &+= 1 }
    }
    return (!allFinite, tooFar)
  }
}

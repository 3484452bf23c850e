/// Units of 16-bit depth pictures. In all of them 0 means no measurement.
public enum DepthUnits {
  /// TUM's unit is 1/5000 m.
  public static let tumUnitsPerMeter = 5000

  /// Millimeters in TUM's unit. Depths above 13,107 mm do not fit 16 bits and become 0.
  public static func tum(fromMillimeters pixels: [UInt16]) -> [UInt16] {
    pixels.map { $0 > 13_107 ? 0 : $0 &* 5 }
  }

  /// Number of pixels with a measurement: 0 is none.
  public static func measured(_ pixels: Span<UInt16>) -> Int {
    pixels.withUnsafeBufferPointer { pixels in
      pixels.reduce(0) { $0 + ($1 == 0 ? 0 : 1) }
    }
  }
}

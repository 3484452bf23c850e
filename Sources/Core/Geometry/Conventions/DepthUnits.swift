/// Units of 16-bit depth pictures. In all of them 0 means no measurement.
public enum DepthUnits {
  /// TUM's unit is 1/5000 m.
  public static let tumUnitsPerMeter = 5000

  /// Millimeters in TUM's unit. Depths above 13,107 mm do not fit 16 bits and become 0.
  @inlinable
  public static func tum(fromMillimeters millimeters: UInt16) -> UInt16 {
    millimeters > 13_107 ? 0 : millimeters &* 5
  }
}

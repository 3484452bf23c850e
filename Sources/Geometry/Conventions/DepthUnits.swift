/// Units of depth in 16-bit pictures; 0 = none everywhere.
public enum DepthUnits {
  /// TUM's unit is 1/5000 m.
  public static let tumUnitsPerMeter = 5000

  /// TUM's value for millimeters; 0 above 13,107 mm, the largest that 16 bits hold.
  @inlinable
  public static func tum(fromMillimeters millimeters: UInt16) -> UInt16 {
    millimeters > 13_107 ? 0 : millimeters &* 5
  }
}

/// The sign of acceleration: a device at rest, face up, has specific force (0, 0, **+9.8**) m/s²
/// along device axes.
public enum SpecificForce {
  /// From CoreMotion's sign, which at rest points along gravity: all axes are negated, nothing is
  /// rescaled. m/s², device axes.
  public static func specificForce(
    fromCoreMotion acceleration: (x: Double, y: Double, z: Double)
  ) -> (x: Double, y: Double, z: Double) {
    // `0 - x` rather than `-x`, so that 0 does not become -0.
    (0 - acceleration.x, 0 - acceleration.y, 0 - acceleration.z)
  }

  /// From Android's sign, which is that of specific force.
  public static func specificForce(
    fromAndroid acceleration: (x: Double, y: Double, z: Double)
  ) -> (x: Double, y: Double, z: Double) { acceleration }

  /// m/s² per g, by definition (ISO 80000-3).
  static let metersPerSecondSquaredPerG = 9.80665

  /// Acceleration in units of standard gravity; the sign stays.
  public static func g(fromMetersPerSecondSquared value: Double) -> Double {
    value / metersPerSecondSquaredPerG
  }
}

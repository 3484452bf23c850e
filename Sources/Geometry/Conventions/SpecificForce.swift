/// The sign of acceleration: at rest, face up, specific force is (0, 0, **+9.8**) m/s² along device axes.
public enum SpecificForce {
  /// From CoreMotion's signs, whose reading at rest is that of gravity's pull: all axes negated. Never a
  /// rescale. m/s² in and out, axes of the device.
  public static func specificForce(
    fromCoreMotion acceleration: (x: Double, y: Double, z: Double)
  ) -> (x: Double, y: Double, z: Double) {
    // 0 - x, so that a 0 stays +0.
    (0 - acceleration.x, 0 - acceleration.y, 0 - acceleration.z)
  }

  /// From Android's signs, which are those of specific force.
  public static func specificForce(
    fromAndroid acceleration: (x: Double, y: Double, z: Double)
  ) -> (x: Double, y: Double, z: Double) { acceleration }

  /// m/s² per g, by definition (ISO 80000-3).
  public static let metersPerSecondSquaredPerG = 9.80665

  /// In units of standard gravity, the sign as it is.
  public static func g(fromMetersPerSecondSquared value: Double) -> Double {
    value / metersPerSecondSquaredPerG
  }
}

/// CoreMotion states accelerations in units of standard gravity.
enum StandardGravity {
  /// m/s² per g, by definition (ISO 80000-3).
  static let metersPerSecondSquared = 9.80665
}

/// Maps sensor names in tables to sensor types.
enum VISLAMSensorNames {
  /// The spellings of the app itself.
  private static let own: Set<String> = [
    "accelerometer", "gyroscope", "magnetometer", "userAcceleration", "rotationRate", "gravity",
  ]

  /// Other names, in lower case, without `_`, `-` and blanks.
  private static let others = [
    "accelerometer": "accelerometer", "accel": "accelerometer", "acc": "accelerometer",
    "a": "accelerometer",
    "gyroscope": "gyroscope", "gyro": "gyroscope", "gyr": "gyroscope", "g": "gyroscope",
    "w": "gyroscope",
    "magnetometer": "magnetometer", "mag": "magnetometer", "m": "magnetometer",
    "useracceleration": "userAcceleration", "linearacceleration": "userAcceleration",
    "rotationrate": "rotationRate",
    "gravity": "gravity", "grav": "gravity",
  ]

  /// The sensor type of `name`, and whether the spelling is the app's; `nil` for an unknown name,
  /// which is kept as it is.
  static func sensor(_ name: String) -> (sensor: String, isOwnSpelling: Bool)? {
    if own.contains(name) { return (name, true) }
    let plain = name.lowercased().filter { !"_- \t".contains($0) }
    return others[plain].map { ($0, false) }
  }

  /// Sensors whose samples integrate to motion. Only these count for coverage.
  static let inertial: Set<String> = [
    "accelerometer", "gyroscope", "userAcceleration", "rotationRate",
  ]

  static func isKnown(_ sensor: String) -> Bool { own.contains(sensor) }
}

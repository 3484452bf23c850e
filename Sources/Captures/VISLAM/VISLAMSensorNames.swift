/// Which sensor a name in a table means.
enum VISLAMSensorNames {
  /// The spellings of the app itself.
  private static let own: Set<String> = [
    "accelerometer", "gyroscope", "magnetometer", "userAcceleration", "rotationRate", "gravity",
  ]

  /// Lower case, without `_`, `-` and blanks.
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

  /// The sensor that `name` means, and whether the name is spelled as the app spells it; `nil` for a
  /// name that means none and keeps its own spelling.
  static func sensor(_ name: String) -> (sensor: String, isOwnSpelling: Bool)? {
    if own.contains(name) { return (name, true) }
    let plain = name.lowercased().filter { !"_- \t".contains($0) }
    return others[plain].map { ($0, false) }
  }

  /// Sensors whose samples integrate to motion: only they count for coverage.
  static let inertial: Set<String> = [
    "accelerometer", "gyroscope", "userAcceleration", "rotationRate",
  ]

  static func isKnown(_ sensor: String) -> Bool { own.contains(sensor) }
}

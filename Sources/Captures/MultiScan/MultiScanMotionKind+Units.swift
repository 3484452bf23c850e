extension MultiScanMotionKind {
  /// The sensor type of a file's samples.
  func sensorName(android: Bool) -> String {
    switch self {
    case .rot: android ? "gyroscope" : "rotationRate"
    case .acce: android ? "accelerometer" : "userAcceleration"
    case .mag: "magnetometer"
    case .grav: "gravity"
    case .atti: "attitude"
    }
  }

  /// The values of a record in m/s², rad/s, µT or rad.
  ///
  /// iOS writes accelerations in g; Android's attitude is azimuth, pitch, roll in degrees, whatever
  /// the names of its properties. Everything else is stored in the unit of the tables.
  func values(
    of record: MultiScanMotionFile.Record, android: Bool
  ) -> (x: Double, y: Double, z: Double) {
    switch (self, android) {
    case (.acce, false), (.grav, false):
      Self.metersPerSecondSquared(record)
    case (.atti, true):
      (record.z * .pi / 180, record.y * .pi / 180, record.x * .pi / 180)
    default:
      (record.x, record.y, record.z)
    }
  }

  private static func metersPerSecondSquared(
    _ record: MultiScanMotionFile.Record
  ) -> (x: Double, y: Double, z: Double) {
    let scale = StandardGravity.metersPerSecondSquared
    return (record.x * scale, record.y * scale, record.z * scale)
  }
}

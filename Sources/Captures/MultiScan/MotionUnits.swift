extension MultiScan.MotionKind {
  /// Name and conversion of a file's samples: the two systems write other units under the same names.
  func sensor(android: Bool) -> (name: String, convert: @Sendable (MultiScan.MotionFile.Record) -> Triple) {
    let unchanged: @Sendable (MultiScan.MotionFile.Record) -> Triple = { Triple($0.x, $0.y, $0.z) }
    return switch (self, android) {
    case (.rot, false): ("rotationRate", unchanged)
    case (.rot, true): ("gyroscope", unchanged)
    case (.acce, false): ("userAcceleration", { Triple.metersPerSecondSquared(fromG: $0) })
    case (.acce, true): ("accelerometer", unchanged)
    case (.mag, _): ("magnetometer", unchanged)
    case (.grav, false): ("gravity", { Triple.metersPerSecondSquared(fromG: $0) })
    case (.grav, true): ("gravity", unchanged)
    case (.atti, false): ("attitude", unchanged)
    case (.atti, true): ("attitude", { Triple.rollPitchYaw(fromAzimuthPitchRollDegrees: $0) })
    }
  }
}

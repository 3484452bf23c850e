import Core

/// Motion samples in the units of the output tables.
struct ARKitScannerMotion: Sendable {
  /// Sensor names by the index used in `samples`.
  static let sensors = [
    "rotationRate", "userAcceleration", "magnetometer", "attitude", "gravity",
  ]
  /// Conversion factors; the app writes accelerations in g.
  private static let scales = [
    1, StandardGravity.metersPerSecondSquared, 1, 1, StandardGravity.metersPerSecondSquared,
  ]

  private(set) var samples: [IMUSample] = []
  /// Number of entries, readable or not.
  private(set) var entryCount = 0
  /// Number of entries that are not a list of 15 numbers.
  private(set) var malformed = 0
  /// Number of entries whose file has 0 bytes.
  private(set) var empty = 0
  /// Number of samples left out because a value is NaN or infinite.
  private(set) var nonFinite = 0

  /// From five samples per entry: rotation rate, acceleration, magnetic field, attitude, gravity.
  init(_ table: ARKitScannerNumberTable) {
    samples.reserveCapacity(table.entries.count * Self.sensors.count)
    entryCount = table.entries.count
    for entry in table.entries {
      guard let numbers = entry.numbers, numbers.count == 15 else {
        if entry.isEmpty { empty += 1 } else { malformed += 1 }
        continue
      }
      for sensor in Self.sensors.indices {
        add(numbers[sensor * 3..<sensor * 3 + 3], sensor: sensor, at: entry.key.timestamp)
      }
    }
  }

  /// From three samples per frame, at the frame's time; a frame without time has none.
  init(_ release: ARKitScannerRelease) {
    for (_, frame) in release.frames {
      guard let motion = frame.imu, let time = frame.time else { continue }
      entryCount += 1
      for (numbers, sensor) in [
        (motion.rotationRate, 0), (motion.acceleration, 1), (motion.gravity, 4),
      ] {
        guard let numbers else { continue }
        if numbers.count == 3 {
          add(numbers[...], sensor: sensor, at: time)
        } else {
          malformed += 1
        }
      }
    }
  }

  private mutating func add(_ numbers: ArraySlice<Double>, sensor: Int, at time: Timestamp) {
    guard numbers.allSatisfy(\.isFinite) else {
      nonFinite += 1
      return
    }
    let values = numbers.map { $0 * Self.scales[sensor] }
    samples.append(
      IMUSample(timestamp: time, sensor: sensor, x: values[0], y: values[1], z: values[2]))
  }
}

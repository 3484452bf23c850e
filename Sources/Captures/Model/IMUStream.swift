import Core

/// The sign convention of accelerations: CoreMotion's, or Android's (specific force).
public enum IMUConvention: String, Codable, CaseIterable, Sendable {
  case coremotion
  case android
}

/// The unit of accelerations in a file.
public enum AccelerationUnit: String, CaseIterable, Sendable {
  case g
  case metersPerSecondSquared = "m/s2"

  /// m/s² per unit; g by definition (ISO 80000-3), as CoreMotion uses it.
  var inMetersPerSecondSquared: Double {
    switch self {
    case .g: 9.80665
    case .metersPerSecondSquared: 1
    }
  }

  /// The unit as people write it.
  var words: String {
    switch self {
    case .g: "g"
    case .metersPerSecondSquared: "m/s²"
    }
  }
}

/// The unit of angular velocities in a file.
public enum RotationUnit: String, CaseIterable, Sendable {
  case degreesPerSecond = "deg/s"
  case radiansPerSecond = "rad/s"

  var inRadiansPerSecond: Double {
    switch self {
    case .degreesPerSecond: .pi / 180
    case .radiansPerSecond: 1
    }
  }
}

/// Inertial samples of a capture.
public struct IMUStream: Sendable {
  /// The known sensor types in the order of tables; unknown ones follow by name.
  static let knownSensors = [
    "accelerometer", "gyroscope", "magnetometer", "userAcceleration", "rotationRate", "gravity",
    "attitude",
  ]

  private static let accelerations: Set<String> = ["accelerometer", "userAcceleration", "gravity"]
  private static let rotations: Set<String> = ["gyroscope", "rotationRate"]

  public var description: StreamDescription
  public var convention: IMUConvention
  /// The unit from which the reader made m/s².
  var recordedAcceleration = AccelerationUnit.metersPerSecondSquared
  /// The sensor types present, in table order.
  public var sensors: [String]
  /// Samples sorted by time, then by sensor index; at most one per sensor and time.
  public var samples: [IMUSample]
  /// Per sensor, the step above which there is a gap, across which nothing is interpolated.
  public var gapThresholdNanoseconds: [Int64]
  /// By sensor whose times lost digits: how. Its samples are spread over the time of each stamp.
  public var truncatedTimes: [String: TruncatedTimes] = [:]

  /// Makes a stream from samples in file order (`sensor` indexes `names`, in any order). Of two
  /// samples of one sensor at one time the first is kept, unless the sensor's times lost digits
  /// (`TruncatedTimes`); sensors without samples are removed.
  ///
  /// Returns the stream and, per sensor name, the number of dropped duplicates. Cost: one sort of
  /// the samples.
  public static func sorting(
    _ samples: consuming [IMUSample], sensorNames names: [String], description: StreamDescription,
    convention: IMUConvention
  ) -> (stream: IMUStream, duplicates: [String: Int]) {
    // Sorted in place unless the caller keeps a copy: this is the largest table of a capture.
    var sorted = samples
    var present = Set<Int>()
    for sample in sorted { present.insert(sample.sensor) }
    let order = present.sorted { isBefore(names[$0], names[$1]) }
    var rank = [Int](repeating: 0, count: names.count)
    for (position, sensor) in order.enumerated() { rank[sensor] = position }

    for index in sorted.indices { sorted[index].sensor = rank[sorted[index].sensor] }
    // Swift's sort is stable: of equal times the first in the file stays first.
    sorted.sort { ($0.timestamp, $0.sensor) < ($1.timestamp, $1.sensor) }
    let truncated = TruncatedTimes.spread(&sorted, sensorCount: order.count)
    if !truncated.isEmpty {
      sorted.sort { ($0.timestamp, $0.sensor) < ($1.timestamp, $1.sensor) }
    }
    var kept = 0
    var duplicates: [String: Int] = [:]
    for index in sorted.indices {
      let sample = sorted[index]
      if kept > 0, sorted[kept - 1].timestamp == sample.timestamp,
        sorted[kept - 1].sensor == sample.sensor
      {
        duplicates[names[order[sample.sensor]], default: 0] += 1
      } else {
        sorted[kept] = sample
        kept += 1
      }
    }
    sorted.removeLast(sorted.count - kept)
    var stream = IMUStream(
      description: description, convention: convention, sensors: order.map { names[$0] },
      samples: sorted, gapThresholdNanoseconds: [])
    for (sensor, times) in truncated { stream.truncatedTimes[stream.sensors[sensor]] = times }
    return (stream.withUsualGapThresholds(), duplicates)
  }

  /// The samples in the units in which they were recorded, if these differ from what the reader took them for; `nil`
  /// leaves a kind as it is.
  public func recorded(in acceleration: AccelerationUnit?, _ rotation: RotationUnit?) -> IMUStream {
    let factors = sensors.map { sensor in
      if Self.accelerations.contains(sensor), let acceleration {
        return acceleration.inMetersPerSecondSquared / recordedAcceleration.inMetersPerSecondSquared
      }
      return Self.rotations.contains(sensor) ? rotation?.inRadiansPerSecond ?? 1 : 1
    }
    guard factors.contains(where: { $0 != 1 }) else { return self }
    var stream = self
    if let acceleration { stream.recordedAcceleration = acceleration }
    for index in samples.indices {
      let factor = factors[samples[index].sensor]
      stream.samples[index].x *= factor
      stream.samples[index].y *= factor
      stream.samples[index].z *= factor
    }
    return stream
  }

  /// Whether `sensor` measures accelerations, or rotations.
  package static func isAcceleration(_ sensor: String) -> Bool { accelerations.contains(sensor) }
  package static func isRotation(_ sensor: String) -> Bool { rotations.contains(sensor) }

  /// Sensors whose samples integrate to motion, so that a frame needs them.
  private static let inertial: Set<String> = [
    "accelerometer", "gyroscope", "userAcceleration", "rotationRate",
  ]

  /// The time between the first and the last sample of each inertial sensor with at least two. Cost: a pass over the
  /// samples.
  var inertialSpans: [(sensor: String, span: ClosedRange<Timestamp>)] {
    var spans: [ClosedRange<Timestamp>?] = Array(repeating: nil, count: sensors.count)
    var counts = [Int](repeating: 0, count: sensors.count)
    for sample in samples where spans.indices.contains(sample.sensor) {
      counts[sample.sensor] += 1
      let (span, time) = (spans[sample.sensor], sample.timestamp)
      spans[sample.sensor] =
        min(span?.lowerBound ?? time, time)...max(span?.upperBound ?? time, time)
    }
    return sensors.indices.compactMap { index in
      guard Self.inertial.contains(sensors[index]), counts[index] >= 2 else { return nil }
      return spans[index].map { (sensors[index], $0) }
    }
  }

  /// Times of one sensor, in order.
  func timestamps(ofSensor sensor: Int) -> [Timestamp] {
    samples.lazy.filter { $0.sensor == sensor }.map(\.timestamp)
  }

  /// Samples per sensor type present.
  var sampleCounts: [String: Int] {
    var counts: [String: Int] = [:]
    for sample in samples { counts[sensors[sample.sensor], default: 0] += 1 }
    return counts
  }

  /// Applies the default rule of families that state none: three times the median step, at least 50
  /// ms.
  private func withUsualGapThresholds() -> IMUStream {
    var stream = self
    stream.gapThresholdNanoseconds = sensors.indices.map { sensor in
      let median = TimeSteps(timestamps(ofSensor: sensor)).medianNanoseconds ?? 0
      // Times in damaged files may be centuries apart.
      return median > .max / 3 ? .max : max(3 * median, 50_000_000)
    }
    return stream
  }

  /// Whether sensor `a` comes before `b` in tables.
  static func isBefore(_ a: String, _ b: String) -> Bool {
    switch (knownSensors.firstIndex(of: a), knownSensors.firstIndex(of: b)) {
    case (let a?, let b?): a < b
    case (.some, nil): true
    case (nil, .some): false
    case (nil, nil): a < b
    }
  }
}

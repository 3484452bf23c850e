import Geometry

/// The sign convention of accelerations: CoreMotion's, or Android's (specific force).
public enum IMUConvention: String, Codable, Sendable {
  case coremotion
  case android
}

/// Inertial samples of a capture.
public struct IMUStream: Sendable {
  /// The known sensor types in the order of tables; unknown ones follow by name.
  public static let knownSensors = [
    "accelerometer", "gyroscope", "magnetometer", "userAcceleration", "rotationRate", "gravity",
    "attitude",
  ]

  public var description: StreamDescription
  public var convention: IMUConvention
  /// The sensor types present, in table order.
  public var sensors: [String]
  /// Samples sorted by time, then by sensor index; at most one per sensor and time.
  public var samples: [IMUSample]
  /// Per sensor, the step above which there is a gap, across which nothing is interpolated.
  public var gapThresholdNanoseconds: [Int64]

  /// Makes a stream from samples in file order (`sensor` indexes `names`, in any order). Of two
  /// samples of one sensor at one time the first is kept; sensors without samples are removed.
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
    let stream = IMUStream(
      description: description, convention: convention, sensors: order.map { names[$0] },
      samples: sorted, gapThresholdNanoseconds: [])
    return (stream.withUsualGapThresholds(), duplicates)
  }

  /// Times of one sensor, in order.
  public func timestamps(ofSensor sensor: Int) -> [Timestamp] {
    samples.lazy.filter { $0.sensor == sensor }.map(\.timestamp)
  }

  /// Samples per sensor type present.
  public var sampleCounts: [String: Int] {
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

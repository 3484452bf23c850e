import Core

/// The IMU of a session: samples sorted per sensor, damage counted.
struct VISLAMIMU {
  /// Smallest step that is a gap.
  private static let smallestGapNanoseconds: Int64 = 50_000_000

  let stream: IMUStream
  /// First and last time per inertial sensor with at least two samples.
  private let coverage: [ClosedRange<Timestamp>]

  /// Sorts the samples of `table` and reports disorder, duplicates, gaps and unknown sensors.
  /// Throws when no row is usable, or when more than half of all rows have one time.
  init(
    _ table: VISLAMIMUTable, convention: IMUConvention, warnings: WarningCollector
  ) throws(CaptureError) {
    try Self.refuseStaleTimes(of: table, warnings)
    for (sensor, order) in zip(table.sensors, table.order) {
      order.report(to: warnings, subject: sensor)
    }
    Self.reportUnknownSensors(of: table, warnings)
    let form =
      switch table.columns?.form {
      case .wide: table.columns?.isFused == true ? "csv-fused" : "csv-wide"
      default: "csv-long"
      }
    var (stream, duplicates) = IMUStream.sorting(
      table.samples, sensorNames: table.sensors,
      description: StreamDescription(file: table.file, encoding: form), convention: convention)
    if table.columns?.isFused == true { stream.recordedAcceleration = .g }
    for sensor in stream.sensors {
      warnings.add(
        .timestampsDuplicate, sensor, count: duplicates[sensor] ?? 0,
        "samples of \(sensor) at the time of an earlier one; the first in the file was kept")
    }

    var gaps = 0
    var coverage: [ClosedRange<Timestamp>] = []
    var timesBySensor = [[Timestamp]](repeating: [], count: stream.sensors.count)
    for sample in stream.samples { timesBySensor[sample.sensor].append(sample.timestamp) }
    for (index, (sensor, times)) in zip(stream.sensors, timesBySensor).enumerated() {
      let steps = TimeSteps(times)
      let median = steps.medianNanoseconds ?? 0
      let (triple, overflow) = median.multipliedReportingOverflow(by: 3)
      let threshold = max(overflow ? .max : triple, Self.smallestGapNanoseconds)
      stream.gapThresholdNanoseconds[index] = threshold
      if stream.description.rateHz == nil { stream.description.rateHz = steps.rateHz }
      guard VISLAMSensorNames.isKnown(sensor) else { continue }
      let found = steps.nanoseconds.count { $0 > threshold }
      gaps += found
      warnings.add(
        .imuGap, sensor, count: found,
        "steps of \(sensor) longer than \(threshold / 1_000_000) ms")
      if VISLAMSensorNames.inertial.contains(sensor), let first = times.first,
        let last = times.last, times.count >= 2
      {
        coverage.append(first...last)
      }
    }
    stream.description.gaps = gaps
    stream.description.firstTimestamp = stream.samples.first?.timestamp
    stream.description.lastTimestamp = stream.samples.last?.timestamp
    self.stream = stream
    self.coverage = coverage
  }

  /// Frames before the first or after the last sample of at least one inertial sensor.
  func framesOutside(_ frames: [CaptureFrame]) -> FramesOutside {
    let times = frames.compactMap(\.timestamp)
    var outside = FramesOutside(frames: times.count, rateHz: TimeSteps(times).rateHz)
    for time in times {
      if coverage.contains(where: { time < $0.lowerBound }) {
        outside.before += 1
      } else if coverage.contains(where: { time > $0.upperBound }) {
        outside.after += 1
      }
    }
    return outside
  }

  private static func reportUnknownSensors(
    of table: VISLAMIMUTable, _ warnings: WarningCollector
  ) {
    let unknown = table.sensors.indices.filter { !VISLAMSensorNames.isKnown(table.sensors[$0]) }
    guard !unknown.isEmpty else { return }
    var rows = [Int](repeating: 0, count: table.sensors.count)
    for sample in table.samples { rows[sample.sensor] += 1 }
    for sensor in unknown {
      warnings.add(
        .unknownKey, table.sensors[sensor], count: rows[sensor],
        "rows of the unknown sensor type \(table.sensors[sensor]); kept under that name")
    }
  }

  private static func refuseStaleTimes(
    of table: VISLAMIMUTable, _ warnings: WarningCollector
  ) throws(CaptureError) {
    guard !table.samples.isEmpty else {
      throw table.unusable ?? CaptureError(file: table.path, problem: "no rows")
    }
    var majority = TimeMajority()
    for sample in table.samples { majority.add(sample.timestamp) }
    var perSensor = [Int](repeating: 0, count: table.sensors.count)
    for sample in table.samples where sample.timestamp == majority.candidate {
      perSensor[sample.sensor] += 1
    }
    let same = perSensor.reduce(0, +)
    // Sensors of one callback share a time, which alone does not mean that the clock did not
    // advance.
    guard same > table.samples.count / 2, perSensor.contains(where: { $0 > 1 }) else { return }
    let time = majority.candidate?.nanoseconds ?? 0
    warnings.add(
      .timestampsStale, table.file,
      "\(same) of \(table.samples.count) samples have the same time, \(time)")
    throw CaptureError(
      file: table.path,
      problem:
        "\(same) of \(table.samples.count) samples have the same time, \(time): the clock did not advance",
      correction: "leave the file out to process the rest: its samples cannot be placed in time")
  }
}

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

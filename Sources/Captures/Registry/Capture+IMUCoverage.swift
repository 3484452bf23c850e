import Core

extension Capture {
  /// Sensors that a frame needs for its motion.
  private static let inertialSensors: Set<String> = [
    "accelerometer", "gyroscope", "userAcceleration", "rotationRate",
  ]

  /// Adds the claim that the IMU covers all frames, if both have times on one clock.
  ///
  /// Frames before the first or after the last sample of an inertial sensor with at least two
  /// samples count as lost, unless they are at most one second at each end, as in ordinary
  /// recordings. Cost: a pass over the samples.
  mutating func claimIMUCoverage() {
    guard framesShareIMUClock, let imu = imu.value else { return }
    let times = frames.compactMap(\.timestamp)
    guard times.count >= 2 else { return }
    var spans: [ClosedRange<Timestamp>?] = Array(repeating: nil, count: imu.sensors.count)
    var samples = [Int](repeating: 0, count: imu.sensors.count)
    for sample in imu.samples where spans.indices.contains(sample.sensor) {
      samples[sample.sensor] += 1
      let span = spans[sample.sensor]
      spans[sample.sensor] =
        min(
          span?.lowerBound ?? sample.timestamp, sample.timestamp)...max(
          span?.upperBound ?? sample.timestamp, sample.timestamp)
    }
    let rate = TimeSteps(times.sorted()).rateHz
    for (sensor, name) in imu.sensors.enumerated() where Self.inertialSensors.contains(name) {
      guard samples[sensor] >= 2, let span = spans[sensor] else { continue }
      var outside = FramesOutside(frames: times.count, rateHz: rate)
      outside.before = times.count { $0 < span.lowerBound }
      outside.after = times.count { $0 > span.upperBound }
      if outside.isBrief { continue }
      claims.add(
        "imu", held: times.count - outside.count, declared: times.count,
        unit: "frames lie within the samples of \(name)", by: "the times of the frames")
    }
  }
}

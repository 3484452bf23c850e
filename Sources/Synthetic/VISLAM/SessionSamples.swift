/// One row of a session's IMU table.
struct SessionSample {
  var nanoseconds: Int64
  /// Index into `SessionSamples.types`.
  var type: Int
  var value: Vector3
}

/// The samples of a session in time order.
struct SessionSamples {
  /// In the order of rows with the same time.
  static let types = [
    "accelerometer", "gyroscope", "magnetometer", "userAcceleration", "rotationRate", "gravity",
  ]
  let rows: [SessionSample]
  /// Types that this form records.
  let present: [Int]

  init(_ work: Synthesis<VISLAMFamily>) {
    let plan = work.plan
    let first = work.taken(0) - Int64(plan.inertialLead * 1e9)
    let end = work.taken(plan.frames - 1) + Int64(plan.inertialTail * 1e9)
    let middle = (first + end) / 2
    let gap = middle..<(middle + Int64(plan.inertialGapSeconds * 1e9))
    present =
      switch plan.form {
      case .v1: [0, 1, 3, 4, 5]
      case .android: [0, 1, 2]
      case .androidWide: [0, 1]
      }
    // Phones deliver 99.92 Hz for nominal 100. The accelerometer comes 1.25 ms after the gyroscope,
    // fused values in a separate callback.
    let lag: [Int: Int64] = [
      0: 1_250_000, 1: 0, 2: 2_300_000, 3: 3_100_000, 4: 3_100_000, 5: 3_100_000,
    ]
    var rows: [SessionSample] = []
    for type in present {
      let isWide = plan.form == .androidWide
      let clock = SampleClock(
        startNanoseconds: first + (isWide ? 0 : lag[type] ?? 0), rate: 99.92,
        jitterSeconds: 0.000_002, seed: work.options.seed,
        type > 2 || isWide ? "fused" : "raw \(type)")
      var sensors = work.inertialSensors()
      for time in clock.times(through: end) {
        let sample = sensors.sample(at: work.worldSeconds(time))
        guard !gap.contains(time) else { continue }
        rows.append(
          SessionSample(
            nanoseconds: time, type: type,
            value: Self.value(of: type, sample, isAndroid: plan.form.isAndroid)))
      }
    }
    rows.sort { ($0.nanoseconds, $0.type) < ($1.nanoseconds, $1.type) }
    self.rows = rows
  }

  /// m/s², rad/s, µT. iOS apps of this family use 9.81 for a g and CoreMotion's signs; Android
  /// reports specific force.
  private static func value(of type: Int, _ sample: InertialSample, isAndroid: Bool) -> Vector3 {
    switch type {
    case 0: sample.acceleration * (isAndroid ? -InertialSensors.standardGravity : 9.81)
    case 1: sample.gyroscope
    case 2: sample.magneticField
    case 3: sample.userAcceleration * 9.81
    case 4: sample.rotationRate
    default: sample.gravity * 9.81
    }
  }
}

/// The times of a VI-SLAM session's pictures.
extension Synthesis<VISLAMFamily> {
  /// Nanoseconds of uptime when the picture of a frame was taken.
  func taken(_ frame: Int) -> Int64 {
    let isLater = plan.gapAfterFrame.map { frame > $0 } ?? false
    return clock.nanoseconds(of: frame) + (isLater ? Int64(clock.periodNanoseconds / 2) : 0)
  }

  /// The container's time of a row's picture in 1/600 s; 0 for the first existing picture.
  func ticks(_ row: Int) -> Int64 {
    let first = (0..<plan.frames).first { !plan.lostPictures.contains($0) } ?? 0
    return Int64((Double(taken(row) - taken(first)) / 1e9 * 600).rounded())
  }
}

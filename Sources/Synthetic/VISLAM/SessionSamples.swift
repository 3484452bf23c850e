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
    let (plan, times) = (work.plan, work.times)
    let first = times.frame(0) - Int64(plan.inertialLead * 1e9)
    let end = times.frame(plan.frames - 1) + Int64(plan.inertialTail * 1e9)
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
      var index = 0
      while clock.nanoseconds(of: index) <= end {
        let time = clock.nanoseconds(of: index)
        index += 1
        let sample = sensors.sample(at: times.worldSeconds(time))
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
struct SessionTimes {
  /// Uptime at the scene's time 0.
  let base: Int64
  private let plan: SessionPlan
  private let clock: SampleClock
  static let ticksPerSecond = 600

  /// Camera periods as measured on phones: 33.323 ms for nominal 30 per second.
  init(plan: SessionPlan, rate: Double, seed: UInt64) {
    self.plan = plan
    var random = SeededRandom(seed: seed, "uptime")
    base =
      plan.form == .android
      ? 1_780_000_000_123_456_789 + Int64(random.uniform(0...1e6) * 1e9)
      : Int64(random.uniform(20_000...300_000) * 1e9)
    clock = SampleClock(
      startNanoseconds: base, rate: rate * 1.00031, jitterSeconds: 0.000_003, seed: seed,
      "frames")
  }

  func frame(_ frame: Int) -> Int64 {
    let isLater = plan.gapAfterFrame.map { frame > $0 } ?? false
    return clock.nanoseconds(of: frame) + (isLater ? Int64(clock.periodNanoseconds / 2) : 0)
  }

  func worldSeconds(_ nanoseconds: Int64) -> Double { Double(nanoseconds - base) / 1e9 }

  /// The container's time of a row's picture; 0 for the first existing picture.
  func ticks(_ row: Int) -> Int64 {
    let first = (0..<plan.frames).first { !plan.lostPictures.contains($0) } ?? 0
    let elapsed = Double(frame(row) - frame(first)) / 1e9
    return Int64((elapsed * Double(Self.ticksPerSecond)).rounded())
  }
}

import Core

/// The samples of `imu.csv`, as stored and as in a reader's table.
struct StrayMotion {
  struct Sample {
    var time: String
    /// In the unit of the file.
    var acceleration: [String]
    var rotation: [String]
  }

  let plan: StrayPlan
  let samples: [Sample]
  /// Samples that are damaged, if the plan says so.
  private static let brokenSample = 7
  private static let nanSample = 9

  init(_ work: Synthesis<StrayScannerFamily>) {
    plan = work.plan
    var sensors = work.inertialSensors()
    let isRaw = plan.generation.isMotionInGravities
    samples = work.motionTimes.map { uptime in
      let sample = sensors.sample(at: work.worldSeconds(ofUptime: uptime))
      // Before 2025 the app multiplied by 9.81.
      let acceleration = sample.acceleration * (isRaw ? 1 : 9.81)
      let rotation = isRaw ? sample.gyroscope : sample.rotationRate
      return Sample(
        time: "\(uptime)", acceleration: acceleration.array.map { "\($0)" },
        rotation: rotation.array.map { "\($0)" })
    }
  }

  /// The cells of the file's row.
  func cells(_ index: Int, _ sample: Sample) -> [String] {
    var cells = [sample.time] + sample.acceleration + sample.rotation
    if plan.hasBrokenSample, index == Self.brokenSample { cells[4] = "fast" }
    if plan.hasNaNSample, index == Self.nanSample { cells[2] = "nan" }
    return cells
  }

  /// Samples that a reader keeps.
  private var kept: [Sample] {
    guard plan.motion == .present else { return [] }
    return samples.enumerated().filter { index, _ in
      !(plan.hasBrokenSample && index == Self.brokenSample)
        && !(plan.hasNaNSample && index == Self.nanSample)
        && !(plan.cutsLastSample && index == samples.count - 1)
    }.map(\.element)
  }

  /// Time of the first sample that a reader keeps, nanoseconds.
  var firstTime: Int64? {
    kept.first.flatMap { Timestamp(decimalSeconds: $0.time)?.nanoseconds }
  }

  /// The rows of a reader's table: m/s² and rad/s.
  var rows: MotionRows {
    let isRaw = plan.generation.isMotionInGravities
    let scale = isRaw ? InertialSensors.standardGravity : 1
    var rows = MotionRows()
    for sample in kept {
      guard let time = Timestamp(decimalSeconds: sample.time) else { continue }
      rows.add(
        nanoseconds: time.nanoseconds,
        [
          ("accelerometer", Self.vector(sample.acceleration) * scale),
          (isRaw ? "gyroscope" : "rotationRate", Self.vector(sample.rotation)),
        ])
    }
    return rows
  }

  private static func vector(_ texts: [String]) -> Vector3 {
    let numbers = texts.map { Double($0) ?? 0 }
    return Vector3(numbers[0], numbers[1], numbers[2])
  }
}

/// The times of a Stray Scanner capture: device uptime as decimal seconds.
extension Synthesis<StrayScannerFamily> {
  /// Nanoseconds of uptime when the picture of a frame was taken.
  private func taken(_ frame: Int) -> Int64 {
    clock.nanoseconds(of: plan.damage.cameraFrame(frame))
  }

  /// Time of a frame in the scene, seconds.
  func worldSeconds(_ frame: Int) -> Double { worldSeconds(taken(frame)) }

  /// The time that stands in the row of a frame.
  func timeText(_ frame: Int) -> String {
    "\(Double(taken(plan.damage.timedFrame(frame))) / 1e9)"
  }

  /// The time that a reader finds for a frame, nanoseconds.
  func recorded(_ frame: Int) -> Int64? {
    Timestamp(decimalSeconds: timeText(frame))?.nanoseconds
  }

  /// Uptime of all motion samples, seconds.
  fileprivate var motionTimes: [Double] {
    let clock = SampleClock(
      startNanoseconds: taken(0) + Int64(plan.motionDelay * 1e9), rate: 99.8,
      jitterSeconds: 0.000_002, seed: options.seed, "motion")
    // Finer than nanoseconds, as the sensors' own times are.
    return clock.times(through: taken(plan.frames - 1) + 78_000_000).map {
      Double($0) / 1e9 + 0.37e-9
    }
  }

  /// The time of a picture in the video, in 1/600 s: made up by the app, from one nominal frame
  /// before the movie's start.
  func ticks(_ frame: Int) -> Int64 {
    let step = Int64(max(1, (600 / rate).rounded()))
    return plan.video == .encodedAgain ? Int64(frame - 1) * step : Int64(frame) * step - 10
  }
}

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

  init(plan: StrayPlan, times: StrayTimes, rig: Rig, options: SynthesisOptions) {
    self.plan = plan
    var sensors = InertialSensors(
      motion: rig.motion, noise: options.noise, offsetSeconds: options.imuOffsetSeconds,
      seed: options.seed)
    let isRaw = plan.generation.isMotionInGravities
    samples = times.motion.map { uptime in
      let sample = sensors.sample(at: times.worldSeconds(ofUptime: uptime))
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

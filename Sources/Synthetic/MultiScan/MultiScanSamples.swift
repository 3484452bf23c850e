/// The motion samples of a MultiScan capture: the content of the files, and a reader's rows.
struct MultiScanSamples {
  /// Samples by file extension, in time order.
  let stored: [String: [(nanoseconds: Int64, value: Vector3)]]
  /// The earliest time in the existing files.
  let start: Int64?
  let rows: MotionRows

  /// iOS writes all five sensors at the same times, Android each at its own.
  init(plan: MultiScanPlan, times: MultiScanTimes, rig: Rig, options: SynthesisOptions) {
    guard plan.generation.hasMotion else {
      stored = [:]
      start = nil
      rows = MotionRows()
      return
    }
    let isAndroid = plan.generation.isAndroid
    let end = times.frame(plan.frames - 1) + 50_000_000
    var stored: [String: [(nanoseconds: Int64, value: Vector3)]] = [:]
    var read: [(nanoseconds: Int64, order: Int, name: String, value: Vector3)] = []
    for (number, file) in MultiScanMotion.files.enumerated() {
      // On iOS all files are written by one callback: same clock, same noise.
      let clock = SampleClock(
        startNanoseconds: times.base + (isAndroid ? Int64(number) * 1_237_000 : 0),
        rate: isAndroid ? 100 : 60, jitterSeconds: 0.0004, seed: options.seed,
        isAndroid ? "motion \(file.fileExtension)" : "motion")
      var sensors = InertialSensors(
        motion: rig.motion, clockwiseQuarterTurns: plan.generation.clockwiseQuarterTurns,
        noise: options.noise, offsetSeconds: options.imuOffsetSeconds, seed: options.seed)
      var index = 0
      var samples: [(nanoseconds: Int64, value: Vector3)] = []
      while clock.nanoseconds(of: index) <= end {
        let time = clock.nanoseconds(of: index)
        let sample = sensors.sample(at: times.worldSeconds(time))
        let value = file.stored(sample, isAndroid)
        samples.append((time, value))
        if !plan.missingMotion.contains(file.fileExtension) {
          let (name, converted) = file.read(value, isAndroid)
          read.append((time, Self.order[name] ?? 0, name, converted))
        }
        index += 1
      }
      stored[file.fileExtension] = samples
    }
    read.sort { ($0.nanoseconds, $0.order) < ($1.nanoseconds, $1.order) }
    var rows = MotionRows()
    for row in read { rows.add(nanoseconds: row.nanoseconds, [(row.name, row.value)]) }
    self.stored = stored
    self.rows = rows
    start = read.first?.nanoseconds
  }

  /// Order of rows with the same time.
  private static let order = [
    "accelerometer": 0, "gyroscope": 1, "magnetometer": 2, "userAcceleration": 3,
    "rotationRate": 4, "gravity": 5, "attitude": 6,
  ]
}

/// What a reader must find in a VI-SLAM session, computed from the plan by the rules of the format.
struct SessionExpectation {
  let plan: SessionPlan
  private(set) var frameTimes: [Int64?]
  private(set) var colorTimes: [Int64?]
  /// Accepted rows, sorted.
  let rows: [SessionSample]
  private(set) var warnings = WarningTally()

  init(plan: SessionPlan, times: SessionTimes, samples: SessionSamples) {
    self.plan = plan
    var rows = plan.hasInertialTable && !plan.lacksZ ? samples.rows : []
    if plan.cutsLastLine, !rows.isEmpty { rows.removeLast() }
    self.rows = rows
    if plan.hasFrameTable {
      frameTimes = (0..<plan.frames).map { times.frame($0) }
      colorTimes = (0..<plan.frames).map {
        plan.hasVideo && !plan.lostPictures.contains($0) ? times.frame($0) : nil
      }
    } else {
      // Only the video's own clock.
      let kept = (0..<plan.frames).filter { !plan.lostPictures.contains($0) }
      frameTimes = kept.map {
        let nanoseconds = Double(times.ticks($0)) * 1e9 / Double(SessionTimes.ticksPerSecond)
        return Int64(nanoseconds.rounded(.toNearestOrAwayFromZero))
      }
      colorTimes = frameTimes
    }
    countFrames()
    countFiles()
    countSamples(present: samples.present)
  }

  private mutating func countFrames() {
    guard plan.hasFrameTable else {
      warnings.add("missing-file")
      warnings.add("timestamps-missing", plan.pictures)
      return
    }
    warnings.add("frame-gap", TimeStepCount(frameTimes, gapFactor: 1.4).gaps)
    if plan.swapsFrameRows { warnings.add("timestamps-unordered") }
    if plan.hasVideo {
      warnings.add("frame-count-mismatch", plan.lostPictures.count)
      warnings.add("size-mismatch", plan.wrongSizeRows)
    }
  }

  private mutating func countFiles() {
    if !plan.hasVideo { warnings.add("missing-file") }
    if plan.hasSecondVideo { warnings.add("multiple-streams") }
    if !plan.hasInertialTable { warnings.add("imu-missing") }
  }

  private mutating func countSamples(present: [Int]) {
    guard plan.hasInertialTable, !plan.lacksZ else { return }
    if plan.swapsGyroscope { warnings.add("timestamps-unordered") }
    if plan.repeatsGyroscope { warnings.add("timestamps-duplicate") }
    if plan.hasNaNRow { warnings.add("non-finite-value") }
    if plan.hasShortRow { warnings.add("corrupt-record") }
    if plan.cutsLastLine { warnings.add("truncated-stream") }
    warnings.add("unknown-key", plan.unknownRows)
    var outside: Set<Int> = []
    for type in present {
      let times = self.times(of: type)
      let steps = zip(times.dropFirst(), times).map { $0 - $1 }.sorted()
      guard let first = times.first, let last = times.last, !steps.isEmpty else { continue }
      let threshold = max(3 * steps[steps.count / 2], 50_000_000)
      warnings.add("imu-gap", steps.count { $0 > threshold })
      // Magnetometer and gravity are not counted.
      guard [0, 1, 3, 4].contains(type), plan.hasFrameTable else { continue }
      for (frame, time) in frameTimes.enumerated() {
        if let time, time < first || time > last { outside.insert(frame) }
      }
    }
    warnings.add("imu-outside-frames", outside.count)
  }

  /// Sorted times of one sensor.
  func times(of type: Int) -> [Int64] {
    rows.filter { $0.type == type }.map(\.nanoseconds)
  }
}

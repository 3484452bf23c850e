/// What a reader must find in a Stray Scanner capture, computed from the plan by the rules of the
/// format.
struct StrayExpectation {
  let plan: StrayPlan
  /// Times of the canonical frames; `nil` = empty cell.
  private(set) var frameTimes: [Int64?] = []
  private(set) var colorTimes: [Int64?] = []
  private(set) var depthTimes: [Int64?] = []
  private(set) var warnings = WarningTally()

  init(plan: StrayPlan, times: StrayTimes, firstSample: Int64?) {
    self.plan = plan
    let rows = Set(plan.rows)
    for frame in 0..<plan.canonicalFrames {
      let time = rows.contains(frame) ? times.recorded(frame) : nil
      frameTimes.append(time)
      colorTimes.append(plan.readablePictures.contains(frame) ? time : nil)
      depthTimes.append(frame < plan.frames && plan.depth.isReadable(frame) ? time : nil)
    }
    plan.depth.count(in: &warnings, of: "depth")
    plan.confidence.count(in: &warnings, of: "confidence")
    countFiles()
    countRows()
    countLengths()
    countMotion(firstSample)
  }

  private mutating func countFiles() {
    if plan.video == .absent { warnings.add("missing-file", of: "color") }
    if plan.depth.isAbsent { warnings.add("missing-file", of: "depth") }
    if plan.confidence.isAbsent, plan.generation.hasConfidence {
      warnings.add("missing-file", of: "confidence")
    }
    if plan.odometry == .absent { warnings.add("missing-file", of: "poses") }
    let hasIntrinsics =
      plan.hasMatrix || plan.generation.hasIntrinsicsPerFrame && plan.odometry == .present
    if !hasIntrinsics, plan.odometry != .withoutColumn {
      warnings.add("calibration-missing", of: "color")
    }
  }

  private mutating func countRows() {
    switch plan.odometry {
    case .absent: warnings.add("timestamps-missing", of: "frames", plan.canonicalFrames)
    case .withoutColumn: return
    case .present:
      warnings.add("timestamps-missing", of: "frames", frameTimes.count { $0 == nil })
      let steps = TimeStepCount(frameTimes.filter { $0 != nil }, gapFactor: 1.5)
      warnings.add("frame-gap", of: "frames", steps.gaps)
      warnings.add("timestamps-unordered", of: "frames", steps.backward)
      let edits = plan.rowEdits.values
      warnings.add(
        "timestamps-duplicate", of: "frames", steps.repeated + edits.count { $0 == .repeated })
      warnings.add("corrupt-record", of: "poses", edits.count { $0 == .broken })
      warnings.add("non-finite-value", of: "poses", edits.count { $0 == .notFinite })
      warnings.add("untracked-poses", of: "poses", plan.untrackedRows)
      if plan.cutsLastRow { warnings.add("truncated-stream", of: "poses") }
      if plan.poseJumpFrame != nil { warnings.add("pose-jump", of: "poses") }
    }
  }

  private mutating func countLengths() {
    let color: Int? =
      plan.video == .absent || plan.video == .withoutIndex ? nil : plan.pictures.count
    let depth = plan.depth.fileCount(frames: 0..<plan.frames)
    let confidence = plan.confidence.fileCount(frames: 0..<plan.frames)
    let lengths = [("color", color), ("depth", depth), ("confidence", confidence)]
    let expected =
      plan.odometry == .present ? plan.rows.count : lengths.compactMap(\.1).max() ?? 0
    for (stream, length) in lengths {
      guard let length else { continue }
      warnings.add("frame-count-mismatch", of: stream, abs(length - expected))
    }
    if plan.video == .encodedAgain, plan.odometry == .present {
      warnings.add("pairing-approximate", of: "color", plan.pictures.count)
    }
    guard let color, let depth else { return }
    warnings.add("color-shorter-than-depth", of: "color", depth - color)
    warnings.add("depth-shorter-than-color", of: "depth", color - depth)
  }

  private mutating func countMotion(_ firstSample: Int64?) {
    switch plan.motion {
    case .absent, .headerAlone:
      warnings.add("imu-missing", of: "imu")
      return
    case .withoutColumn: return
    case .present: break
    }
    if plan.hasBrokenSample { warnings.add("corrupt-record", of: "imu") }
    if plan.hasNaNSample { warnings.add("non-finite-value", of: "imu") }
    if plan.cutsLastSample { warnings.add("truncated-stream", of: "imu") }
    guard let firstSample else { return }
    let early = frameTimes.count { time in
      time.map { firstSample - $0 > 250_000_000 } ?? false
    }
    warnings.add("imu-outside-frames", of: "imu", early)
  }
}

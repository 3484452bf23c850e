/// What a reader must find in an ARKit-Scanner capture, computed from the plan by the rules of the
/// format.
struct ScannerExpectation {
  let plan: ScannerPlan
  /// Times of the canonical frames; `nil` = empty cell.
  private(set) var frameTimes: [Int64?] = []
  private(set) var colorTimes: [Int64?] = []
  private(set) var depthTimes: [Int64?] = []
  private(set) var warnings = WarningTally()

  /// - Parameter isWhole: for each depth record whether it can be decoded.
  init(plan: ScannerPlan, times: ScannerTimes, isWhole: [Bool]) {
    self.plan = plan
    for frame in 0..<plan.canonicalFrames {
      // The times of a killed recording come from its exif file, whose last entry is cut.
      let isTimed = frame < (plan.isKilled ? plan.frames - 1 : plan.keys)
      let time = isTimed ? times.recorded(frame) : nil
      frameTimes.append(time)
      colorTimes.append(frame < plan.readablePictures ? time : nil)
      depthTimes.append(frame < isWhole.count && isWhole[frame] ? time : nil)
    }
    countTimes()
    countDepth()
    countLengths()
    countSides()
  }

  private mutating func countTimes() {
    if plan.generation.hasTimes {
      warnings.add("frame-gap", TimeStepCount(frameTimes, gapFactor: 1.5).gaps)
      if plan.isKilled { warnings.add("timestamps-missing", frameTimes.count { $0 == nil }) }
    } else {
      warnings.add("timestamps-missing", plan.canonicalFrames)
    }
    if plan.poseJumpFrame != nil { warnings.add("pose-jump") }
    if plan.nanPoseFrame != nil { warnings.add("non-finite-value") }
  }

  private mutating func countDepth() {
    let edits = plan.recordEdits.filter { $0.key < plan.frames - (plan.endsInRecord ? 1 : 0) }
    warnings.add("empty-record", edits.count { $0.value == .empty })
    warnings.add(
      "corrupt-record",
      edits.count { [.noise, .short, .otherFraming].contains($0.value) })
    if edits.contains(where: { $0.value == .otherEncoding }) { warnings.add("mixed-encodings") }
    if plan.nonFiniteFrame != nil { warnings.add("non-finite-value") }
    let isRaw = plan.generation.depthLayout == .raw
    if plan.endsInRecord { warnings.add(isRaw ? "trailing-data" : "truncated-stream") }
    if plan.trailingBytes > 0 { warnings.add("trailing-data") }
  }

  private mutating func countLengths() {
    let depth = plan.depthFrames.count
    if !plan.isKilled { warnings.add("frame-count-mismatch", abs(depth - plan.frames)) }
    guard plan.hasVideo, !plan.isKilled else {
      if !plan.hasVideo { warnings.add("missing-file") }
      return
    }
    warnings.add("frame-count-mismatch", abs(plan.pictures - plan.frames))
    warnings.add("color-shorter-than-depth", depth - plan.pictures)
    warnings.add("depth-shorter-than-color", plan.pictures - depth)
  }

  private mutating func countSides() {
    if plan.isKilled {
      warnings.add("missing-file", 4)
      warnings.add("imu-missing")
      warnings.add("calibration-missing")
      warnings.add("truncated-stream")
      warnings.add("pairing-approximate", frameTimes.count { $0 != nil })
      return
    }
    if !plan.hasMotion { warnings.add("imu-missing") }
    if plan.declaredColorScale != 1, plan.hasVideo { warnings.add("size-mismatch") }
    if plan.hasStrangeDepthSize { warnings.add("size-mismatch") }
  }
}

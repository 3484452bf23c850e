/// What a reader must find in a Record3D recording, computed from the plan by the rules of the
/// format.
struct RecordExpectation {
  let plan: RecordPlan
  /// Number of canonical frames.
  let frames: Int
  /// Times of the canonical frames; `nil` = empty cell.
  private(set) var frameTimes: [Int64?] = []
  private(set) var colorTimes: [Int64?] = []
  private(set) var depthTimes: [Int64?] = []
  private(set) var warnings = WarningTally()

  init(plan: RecordPlan, times: RecordTimes) {
    self.plan = plan
    frames = plan.frames
    for frame in 0..<frames {
      let time = times.recorded(frame)
      frameTimes.append(time)
      colorTimes.append(plan.hasColor(frame) ? time : nil)
      depthTimes.append(plan.hasDepth(frame) ? time : nil)
    }
    countPictures()
    countArchive()
    countMetadata()
    countLengths()
  }

  private mutating func countPictures() {
    plan.color.count(in: &warnings, of: "color")
    plan.confidence.count(in: &warnings, of: "confidence")
    guard !plan.depth.isAbsent else {
      warnings.add("missing-file", of: "depth")
      if plan.color.isAbsent { warnings.add("missing-file", of: "color") }
      return
    }
    if plan.color.isAbsent { warnings.add("missing-file", of: "color") }
    let edits = plan.depth.edits.values
    warnings.add("empty-record", of: "depth", edits.count { $0 == .empty })
    // Only EXR states its size; other values are too few.
    let isSized = plan.form == .exr
    let other = edits.count { $0 == .otherSize }
    warnings.add("size-mismatch", of: "depth", isSized ? other : 0)
    warnings.add(
      "corrupt-record", of: "depth",
      edits.count { $0 == .cut } + (isSized ? 0 : other) + (plan.depth.hasFarNumber ? 1 : 0)
        + (plan.wrongChecksumFrame == nil ? 0 : 1))
    if plan.nonFiniteFrame != nil { warnings.add("non-finite-value", of: "depth") }
  }

  private mutating func countArchive() {
    if plan.archiveEnd != .whole { warnings.add("truncated-stream", of: "record3d") }
    if plan.hasHostileNames { warnings.add("path-outside-capture", of: "record3d", 3) }
    if plan.doubledFrame != nil { warnings.add("multiple-streams", of: "color") }
  }

  private mutating func countMetadata() {
    guard plan.isDescribed else {
      warnings.add(plan.metadata == .cut ? "corrupt-record" : "missing-file", of: "metadata")
      warnings.add("timestamps-missing", of: "frames", frames)
      warnings.add("calibration-missing", of: "color")
      return
    }
    if plan.intrinsics == .absent { warnings.add("calibration-missing", of: "color") }
    if plan.tracking == .lost { warnings.add("untracked-poses", of: "poses", plan.frames) }
    if plan.zeroPoseFrame != nil { warnings.add("non-finite-value", of: "poses") }
    if plan.poseJumpFrame != nil { warnings.add("pose-jump", of: "poses") }
    guard plan.times != .absent else {
      warnings.add("timestamps-missing", of: "frames", frames)
      return
    }
    warnings.add("timestamps-missing", of: "frames", frameTimes.count { $0 == nil })
    let steps = TimeStepCount(frameTimes.filter { $0 != nil }, gapFactor: 1.5)
    warnings.add("frame-gap", of: "frames", steps.gaps)
    warnings.add("timestamps-unordered", of: "frames", steps.backward)
    warnings.add("timestamps-duplicate", of: "frames", steps.repeated)
  }

  private mutating func countLengths() {
    let color = plan.color.fileCount(frames: 0..<plan.frames)
    let depth = plan.depth.fileCount(frames: 0..<plan.frames)
    let confidence = plan.confidence.fileCount(frames: 0..<plan.frames)
    for (stream, count) in [("color", color), ("depth", depth), ("confidence", confidence)] {
      guard let count else { continue }
      warnings.add("frame-count-mismatch", of: stream, abs(count - frames))
    }
    guard let color, let depth else { return }
    warnings.add("color-shorter-than-depth", of: "color", depth - color)
    warnings.add("depth-shorter-than-color", of: "depth", color - depth)
  }
}

/// What a reader must find in an export of 3D Scanner App, computed from the plan by the rules of
/// the format.
struct ThreeDAppExpectation {
  let plan: ThreeDAppPlan
  /// Times of the canonical frames; `nil` = empty cell.
  private(set) var frameTimes: [Int64?] = []
  private(set) var colorTimes: [Int64?] = []
  private(set) var depthTimes: [Int64?] = []
  private(set) var warnings = WarningTally()

  init(plan: ThreeDAppPlan, files: [ThreeDAppFrameFile]) {
    self.plan = plan
    for file in files {
      let time = plan.isRead(file.frame) ? file.recordedTime : nil
      frameTimes.append(time)
      colorTimes.append(plan.hasColor(file.frame) ? time : nil)
      depthTimes.append(plan.depth.isReadable(file.frame) ? time : nil)
    }
    plan.color.count(in: &warnings, of: "color")
    plan.depth.count(in: &warnings, of: "depth")
    plan.confidence.count(in: &warnings, of: "confidence")
    guard plan.hasFrameFiles else {
      warnings.add("missing-file", of: "poses")
      warnings.add("timestamps-missing", of: "frames", plan.frames)
      warnings.add("calibration-missing", of: "color")
      return
    }
    countLengths()
    countFrameFiles()
    countTimes()
  }

  private mutating func countLengths() {
    let streams =
      plan.generation.hasDepth
      ? [
        ("depth", plan.depth, Array(0..<plan.frames)),
        ("confidence", plan.confidence, Array(0..<plan.frames)),
      ]
      : [("color", plan.color, plan.colorFrames)]
    for (stream, files, frames) in streams {
      let count = files.fileCount(frames: frames) ?? 0
      warnings.add("frame-count-mismatch", of: stream, abs(count - plan.rowCount))
    }
    guard plan.hasInfo else { return }
    let declared = plan.frames + plan.surplusDeclared
    warnings.add("frame-count-mismatch", of: "poses", abs(declared - plan.rowCount))
  }

  private mutating func countFrameFiles() {
    func count(_ kinds: ThreeDAppPlan.FrameFileEdit...) -> Int {
      plan.frameFiles.values.count { kinds.contains($0) }
    }
    warnings.add("empty-record", of: "poses", count(.empty))
    warnings.add("corrupt-record", of: "poses", count(.cut))
    warnings.add("missing-key", of: "poses", count(.withoutPose))
    warnings.add("non-finite-value", of: "poses", count(.notFinite, .zeroScale))
    warnings.add("pairing-approximate", of: "frames", count(.otherIndex))
    if plan.poseJumpFrame != nil { warnings.add("pose-jump", of: "poses") }
  }

  private mutating func countTimes() {
    let untimed = (0..<plan.frames).count { frame in
      let hasPicture =
        plan.depth.hasFile(frame) || plan.confidence.hasFile(frame)
        || frame % plan.generation.colorStep == 0 && plan.color.hasFile(frame)
      return hasPicture && frameTimes[frame] == nil
    }
    warnings.add("timestamps-missing", of: "frames", untimed)
    // Frames are chosen by motion: no step is a gap.
    let steps = TimeStepCount(frameTimes.filter { $0 != nil }, gapFactor: .infinity)
    warnings.add("timestamps-unordered", of: "frames", steps.backward)
    warnings.add("timestamps-duplicate", of: "frames", steps.repeated)
  }
}

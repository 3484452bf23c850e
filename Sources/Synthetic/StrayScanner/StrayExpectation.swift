/// What a reader must find in a Stray Scanner capture, computed from the plan by the rules of the
/// format.
extension Synthesis<StrayScannerFamily> {
  func expectation(firstSample: Int64?) -> Expectation {
    var expectation = Expectation()
    let rows = Set(plan.rows)
    for frame in 0..<plan.canonicalFrames {
      expectation.add(
        rows.contains(frame) ? recorded(frame) : nil,
        hasColor: plan.readablePictures.contains(frame),
        hasDepth: frame < plan.frames && plan.depth.isReadable(frame))
    }
    let times = expectation.frames
    plan.depth.count(in: &expectation.warnings, of: "depth")
    plan.confidence.count(in: &expectation.warnings, of: "confidence")
    countFiles(in: &expectation.warnings)
    countRows(in: &expectation.warnings, times)
    countLengths(in: &expectation.warnings)
    countMotion(in: &expectation.warnings, times, firstSample)
    return expectation
  }

  private func countFiles(in warnings: inout WarningTally) {
    warnings.add("missing-file", of: "color", plan.video == .absent)
    warnings.add("missing-file", of: "depth", plan.depth.isAbsent)
    if plan.confidence.isAbsent, plan.generation.hasConfidence {
      warnings.add("missing-file", of: "confidence")
    }
    warnings.add("missing-file", of: "poses", plan.odometry == .absent)
    let hasIntrinsics =
      plan.hasMatrix || plan.generation.hasIntrinsicsPerFrame && plan.odometry == .present
    if !hasIntrinsics, plan.odometry != .withoutColumn {
      warnings.add("calibration-missing", of: "color")
    }
  }

  private func countRows(in warnings: inout WarningTally, _ times: [Int64?]) {
    switch plan.odometry {
    case .absent: warnings.add("timestamps-missing", of: "frames", plan.canonicalFrames)
    case .withoutColumn: return
    case .present:
      warnings.add("timestamps-missing", of: "frames", times.count { $0 == nil })
      warnings.addSteps(times.filter { $0 != nil })
      let edits = plan.rowEdits.values
      warnings.add("timestamps-duplicate", of: "frames", edits.count { $0 == .repeated })
      warnings.add("corrupt-record", of: "poses", edits.count { $0 == .broken })
      warnings.add("non-finite-value", of: "poses", edits.count { $0 == .notFinite })
      warnings.add("untracked-poses", of: "poses", plan.untrackedRows)
      warnings.add("truncated-stream", of: "poses", plan.cutsLastRow)
      warnings.add("pose-jump", of: "poses", plan.damage.poseJump != nil)
    }
  }

  private func countLengths(in warnings: inout WarningTally) {
    let color: Int? =
      plan.video == .absent || plan.video == .withoutIndex ? nil : plan.pictures.count
    let depth = plan.depth.fileCount(frames: 0..<plan.frames)
    let confidence = plan.confidence.fileCount(frames: 0..<plan.frames)
    let lengths: [(name: String, count: Int?)] = [
      ("color", color), ("depth", depth), ("confidence", confidence),
    ]
    warnings.addLengths(
      lengths,
      expected: plan.odometry == .present
        ? plan.rows.count : lengths.compactMap(\.count).max() ?? 0)
    warnings.addDifference(color: color, depth: depth)
    if plan.video == .encodedAgain, plan.odometry == .present {
      warnings.add("pairing-approximate", of: "color", plan.pictures.count)
    }
  }

  private func countMotion(
    in warnings: inout WarningTally, _ times: [Int64?], _ firstSample: Int64?
  ) {
    switch plan.motion {
    case .absent, .headerAlone:
      warnings.add("imu-missing", of: "imu")
      return
    case .withoutColumn: return
    case .present: break
    }
    warnings.add("corrupt-record", of: "imu", plan.hasBrokenSample)
    warnings.add("non-finite-value", of: "imu", plan.hasNaNSample)
    warnings.add("truncated-stream", of: "imu", plan.cutsLastSample)
    guard let firstSample else { return }
    let early = times.count { time in
      time.map { firstSample - $0 > 250_000_000 } ?? false
    }
    warnings.add("imu-outside-frames", of: "imu", early)
  }
}

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
    expectation.warnings = plan.warnings(expectation.frames, firstSample)
    return expectation
  }
}

extension StrayPlan {
  fileprivate func warnings(_ times: [Int64?], _ firstSample: Int64?) -> WarningTally {
    var warnings = WarningTally()
    depth.count(in: &warnings, of: "depth")
    confidence.count(in: &warnings, of: "confidence")
    countFiles(&warnings)
    countRows(&warnings, times)
    countLengths(&warnings)
    countMotion(&warnings, times, firstSample)
    return warnings
  }

  private func countFiles(_ warnings: inout WarningTally) {
    warnings.add("missing-file", of: "color", video == .absent)
    warnings.add("missing-file", of: "depth", depth.isAbsent)
    if confidence.isAbsent, generation.hasConfidence {
      warnings.add("missing-file", of: "confidence")
    }
    warnings.add("missing-file", of: "poses", odometry == .absent)
    let hasIntrinsics =
      hasMatrix || generation.hasIntrinsicsPerFrame && odometry == .present
    if !hasIntrinsics, odometry != .withoutColumn {
      warnings.add("calibration-missing", of: "color")
    }
  }

  private func countRows(_ warnings: inout WarningTally, _ times: [Int64?]) {
    switch odometry {
    case .absent: warnings.add("timestamps-missing", of: "frames", canonicalFrames)
    case .withoutColumn: return
    case .present:
      warnings.add("timestamps-missing", of: "frames", times.count { $0 == nil })
      warnings.addSteps(times.filter { $0 != nil })
      let edits = rowEdits.values
      warnings.add("timestamps-duplicate", of: "frames", edits.count { $0 == .repeated })
      warnings.add("corrupt-record", of: "poses", edits.count { $0 == .broken })
      warnings.add("non-finite-value", of: "poses", edits.count { $0 == .notFinite })
      warnings.add("untracked-poses", of: "poses", untrackedRows)
      warnings.add("truncated-stream", of: "poses", cutsLastRow)
      warnings.add("pose-jump", of: "poses", damage.poseJump != nil)
    }
  }

  private func countLengths(_ warnings: inout WarningTally) {
    let color: Int? =
      video == .absent || video == .withoutIndex ? nil : pictures.count
    let depth = depth.fileCount(frames: 0..<frames)
    let confidence = confidence.fileCount(frames: 0..<frames)
    let lengths: [(name: String, count: Int?)] = [
      ("color", color), ("depth", depth), ("confidence", confidence),
    ]
    warnings.addLengths(
      lengths,
      expected: odometry == .present
        ? rows.count : lengths.compactMap(\.count).max() ?? 0)
    warnings.addDifference(color: color, depth: depth)
    if video == .encodedAgain, odometry == .present {
      warnings.add("pairing-approximate", of: "color", pictures.count)
    }
  }

  private func countMotion(
    _ warnings: inout WarningTally, _ times: [Int64?], _ firstSample: Int64?
  ) {
    switch motion {
    case .absent, .headerAlone:
      warnings.add("imu-missing", of: "imu")
      return
    case .withoutColumn: return
    case .present: break
    }
    warnings.add("corrupt-record", of: "imu", hasBrokenSample)
    warnings.add("non-finite-value", of: "imu", hasNaNSample)
    warnings.add("truncated-stream", of: "imu", cutsLastSample)
    guard let firstSample else { return }
    let early = times.count { time in
      time.map { firstSample - $0 > 250_000_000 } ?? false
    }
    warnings.add("imu-outside-frames", of: "imu", early)
  }
}

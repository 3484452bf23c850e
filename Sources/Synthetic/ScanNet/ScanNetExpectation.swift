import Core

/// What a reader must find in a ScanNet capture, computed from the plan by the rules of the format.
extension Synthesis<ScanNetFamily> {
  /// - Parameter inertialTimes: of the samples that a reader finds, in file order.
  func expectation(_ inertialTimes: [Int64]) -> Expectation {
    var expectation = Expectation(warnings: WarningTally(namesSubjects: false))
    let entries = plan.readableEntries
    let depth = (0..<entries.depth).map(recordedDepth)
    let color = (0..<entries.color).map(recordedColor)
    func nanoseconds(_ seconds: [Double]) -> [Int64?] {
      (0..<plan.canonicalFrames).map {
        $0 >= seconds.count || seconds[$0] == 0
          ? nil : Timestamp(exactSeconds: seconds[$0])?.nanoseconds
      }
    }
    expectation.depth = nanoseconds(depth)
    expectation.color = nanoseconds(color)
    expectation.frames = expectation.depth
    plan.countTimes(
      &expectation, inertialTimes, notFinite: (depth + color).count { !$0.isFinite })
    plan.countDepth(&expectation.warnings)
    plan.countColor(&expectation.warnings)
    plan.countSensors(&expectation.warnings, inertialTimes)
    plan.countFiles(&expectation.warnings)
    return expectation
  }
}

extension ScanNetPlan {
  /// Number of readable depth and color times of whole frames.
  fileprivate var readableEntries: (depth: Int, color: Int) {
    var depth = timeBlocks > 0 ? timeEntries : 0
    var color = timeBlocks > 1 ? timeEntries : 0
    if let kept = timeBytesKept {
      depth = min(timeEntries, kept / 8)
      color = kept / 8 - depth
    }
    return (min(depth, depthFrames), min(color, depthFrames))
  }

  fileprivate func countTimes(
    _ expectation: inout Expectation, _ inertialTimes: [Int64], notFinite: Int
  ) {
    let (depth, color) = (expectation.depth, expectation.color)
    let known = depth.compactMap(\.self)
    if let first = inertialTimes.min() {
      let stale = known.count { $0 < first - 1_000_000_000 }
      if stale > 0 {
        expectation.warnings.add("timestamps-stale", stale)
        expectation.frames = depth.map { _ in nil }
        return
      }
    }
    expectation.warnings.add("non-finite-value", notFinite)
    let frames = timeBlocks == 0 ? canonicalFrames : depthFrames
    expectation.warnings.add(
      "timestamps-missing", (0..<frames).count { depth[$0] == nil || color[$0] == nil })
    expectation.warnings.addSteps(depth)
    if let last = inertialTimes.max() {
      expectation.warnings.add("imu-outside-frames", known.count { $0 > last + 1_000_000_000 })
    }
  }

  fileprivate func countDepth(_ warnings: inout WarningTally) {
    warnings.add("corrupt-record", damagedPayloads.count { $0 < depthFrames })
    if endsInPayload || timeBytesKept != nil { warnings.add("truncated-stream") }
    warnings.add("trailing-data", trailingBytes > 0)
    if let claimed = claimedDepth {
      warnings.add("frame-count-mismatch", abs(claimed - depthFrames))
    }
  }

  fileprivate func countColor(_ warnings: inout WarningTally) {
    guard !missingFiles.contains(.color) else { return }
    let lacking = depthFrames - pictures
    if lacking > 0 {
      warnings.add("color-shorter-than-depth", lacking)
      if claimedColor != pictures { warnings.add("pairing-approximate", pictures) }
      if let claimed = claimedColor {
        warnings.add("frame-count-mismatch", abs(claimed - pictures))
      }
    }
    warnings.add("depth-shorter-than-color", -lacking)
    if declaredColorScale != 1, !missingFiles.contains(.text) {
      warnings.add("size-mismatch")
    }
  }

  fileprivate func countSensors(_ warnings: inout WarningTally, _ inertialTimes: [Int64]) {
    if !missingFiles.contains(.camera) {
      if cameraTag != "v1" {
        warnings.add("unsupported-stream")
      } else {
        warnings.add("frame-count-mismatch", abs(cameraRecords - depthFrames))
        warnings.add("truncated-stream", cameraTrailingBytes > 0)
      }
    }
    guard !missingFiles.contains(.inertial) else { return }
    warnings.add("imu-partial-record", inertialPartialBytes > 0)
    let sorted = inertialTimes.sorted()
    warnings.add("imu-gap", zip(sorted.dropFirst(), sorted).count { $0 - $1 > 250_000_000 })
    warnings.add(
      "timestamps-unordered", zip(inertialTimes.dropFirst(), inertialTimes).count { $0 < $1 })
    if claimedDepth != nil, abs(declaredInertialSurplus) > 1 {
      warnings.add("frame-count-mismatch", abs(declaredInertialSurplus))
    }
  }

  fileprivate func countFiles(_ warnings: inout WarningTally) {
    if missingFiles.contains(.text) {
      warnings.add("missing-file")
    } else {
      warnings.add("missing-key", removedKeys.count + (hasClosingKeys ? 0 : 4))
      warnings.add("unknown-key", addedLines.count)
    }
    warnings.add("missing-file", missingFiles.contains(.color))
    warnings.add("missing-file", missingFiles.contains(.camera))
    warnings.add("imu-missing", missingFiles.contains(.inertial))
  }
}

/// The times of all events in a ScanNet capture, in nanoseconds of device uptime, and the recorded
/// times.
extension Synthesis<ScanNetFamily> {
  /// True time of a depth frame.
  func depthTime(_ frame: Int) -> Int64 { clock.nanoseconds(of: frame) + skipped(before: frame) }

  /// True middle of a picture's exposure, about four milliseconds after depth.
  func colorTime(_ frame: Int) -> Int64 {
    let color = SampleClock(
      startNanoseconds: clock.startNanoseconds + 4_050_000, rate: rate, jitterSeconds: 0.0005,
      seed: options.seed, "color")
    return color.nanoseconds(of: frame) + skipped(before: frame)
  }

  /// Times of the IMU samples, in file order: at 60 Hz, from a quarter of a second before to a quarter
  /// of a second after.
  var inertialTimes: [Int64] {
    let base = clock.startNanoseconds
    let lastFrame = depthTime(plan.frames - 1)
    let end =
      plan.inertialEndsEarlySeconds.map { lastFrame - Int64($0 * 1e9) } ?? lastFrame + 250_000_000
    let middle = (base + lastFrame) / 2
    let gap = middle..<(middle + Int64(plan.inertialGapSeconds * 1e9))
    let clock = SampleClock(
      startNanoseconds: base - 250_000_000, rate: 59.7, jitterSeconds: 0.006, seed: options.seed,
      "imu")
    var times = clock.times(through: end).filter { !gap.contains($0) }
    if plan.swapsInertialSamples, times.count > 4 {
      times.swapAt(times.count / 2, times.count / 2 + 1)
    }
    return times
  }

  /// The depth file's time for entry `index` of a block, seconds.
  func recordedDepth(_ index: Int) -> Double {
    guard index < plan.frames else { return garbage }
    switch plan.timeEdits[index] {
    case .notANumber: return .nan
    case .zero: return 0
    case .repeated: return recorded(depthTime(index - 1))
    case .swapped: return recorded(depthTime(index + 1))
    case nil: return recorded(depthTime(plan.timeEdits[index - 1] == .swapped ? index - 1 : index))
    }
  }

  func recordedColor(_ index: Int) -> Double {
    index < plan.frames ? recorded(colorTime(index)) : garbage
  }

  private func recorded(_ nanoseconds: Int64) -> Double {
    Double(nanoseconds - Int64(plan.staleSeconds * 1e9)) / 1e9
  }

  /// A time of an earlier scan.
  private var garbage: Double { Double(clock.startNanoseconds) / 1e9 - 1234.5 }

  private func skipped(before frame: Int) -> Int64 {
    guard let gap = plan.gap, frame > gap.afterFrame else { return 0 }
    return Int64(Double(gap.frameTimes) * clock.periodNanoseconds)
  }
}

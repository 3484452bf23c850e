import Core

/// What a reader must find in a ScanNet capture, computed from the plan by the rules of the format.
struct ScanNetExpectation {
  let plan: ScanNetPlan
  /// Times of the canonical frames, nanoseconds; `nil` = empty cell.
  private(set) var frameTimes: [Int64?]
  private(set) var depthTimes: [Int64?]
  private(set) var colorTimes: [Int64?]
  private(set) var warnings = WarningTally()
  let inertialTimes: [Int64]

  /// - Parameter inertialTimes: in file order.
  init(_ work: Synthesis<ScanNetFamily>, inertialTimes: [Int64]) {
    let plan = work.plan
    self.plan = plan
    self.inertialTimes = plan.missingFiles.contains(.inertial) ? [] : inertialTimes
    let (depthEntries, colorEntries) = Self.readableEntries(plan)
    func nanoseconds(_ seconds: Double) -> Int64? {
      seconds == 0 ? nil : Timestamp(exactSeconds: seconds)?.nanoseconds
    }
    depthTimes = (0..<plan.canonicalFrames).map {
      $0 < depthEntries ? nanoseconds(work.recordedDepth($0)) : nil
    }
    colorTimes = (0..<plan.canonicalFrames).map {
      $0 < colorEntries ? nanoseconds(work.recordedColor($0)) : nil
    }
    frameTimes = depthTimes
    let notFinite =
      (0..<depthEntries).count { !work.recordedDepth($0).isFinite }
      + (0..<colorEntries).count { !work.recordedColor($0).isFinite }
    countTimes(notFinite: notFinite)
    countDepth()
    countColor()
    countSensors()
    countFiles()
  }

  /// Number of readable depth and color times of whole frames.
  private static func readableEntries(_ plan: ScanNetPlan) -> (depth: Int, color: Int) {
    var depth = plan.timeBlocks > 0 ? plan.timeEntries : 0
    var color = plan.timeBlocks > 1 ? plan.timeEntries : 0
    if let kept = plan.timeBytesKept {
      depth = min(plan.timeEntries, kept / 8)
      color = kept / 8 - depth
    }
    return (min(depth, plan.depthFrames), min(color, plan.depthFrames))
  }

  private mutating func countTimes(notFinite: Int) {
    let known = depthTimes.compactMap { $0 }
    if let first = inertialTimes.min() {
      let stale = known.count { $0 < first - 1_000_000_000 }
      if stale > 0 {
        warnings.add("timestamps-stale", stale)
        frameTimes = frameTimes.map { _ in nil }
        return
      }
    }
    warnings.add("non-finite-value", notFinite)
    let hasNoTimes = plan.timeBlocks == 0
    let frames = hasNoTimes ? plan.canonicalFrames : plan.depthFrames
    warnings.add(
      "timestamps-missing",
      (0..<frames).count { depthTimes[$0] == nil || colorTimes[$0] == nil })
    let steps = TimeStepCount(depthTimes, gapFactor: 1.5)
    warnings.add("frame-gap", steps.gaps)
    warnings.add("timestamps-duplicate", steps.repeated)
    warnings.add("timestamps-unordered", steps.backward)
    if let last = inertialTimes.max() {
      warnings.add("imu-outside-frames", known.count { $0 > last + 1_000_000_000 })
    }
  }

  private mutating func countDepth() {
    warnings.add("corrupt-record", plan.damagedPayloads.count { $0 < plan.depthFrames })
    if plan.endsInPayload || plan.timeBytesKept != nil { warnings.add("truncated-stream") }
    warnings.add("trailing-data", plan.trailingBytes > 0)
    if let claimed = plan.claimedDepth {
      warnings.add("frame-count-mismatch", abs(claimed - plan.depthFrames))
    }
  }

  private mutating func countColor() {
    guard !plan.missingFiles.contains(.color) else { return }
    let lacking = plan.depthFrames - plan.pictures
    if lacking > 0 {
      warnings.add("color-shorter-than-depth", lacking)
      if plan.claimedColor != plan.pictures { warnings.add("pairing-approximate", plan.pictures) }
      if let claimed = plan.claimedColor {
        warnings.add("frame-count-mismatch", abs(claimed - plan.pictures))
      }
    }
    warnings.add("depth-shorter-than-color", -lacking)
    if plan.declaredColorScale != 1, !plan.missingFiles.contains(.text) {
      warnings.add("size-mismatch")
    }
  }

  private mutating func countSensors() {
    if !plan.missingFiles.contains(.camera) {
      if plan.cameraTag != "v1" {
        warnings.add("unsupported-stream")
      } else {
        warnings.add("frame-count-mismatch", abs(plan.cameraRecords - plan.depthFrames))
        warnings.add("truncated-stream", plan.cameraTrailingBytes > 0)
      }
    }
    guard !plan.missingFiles.contains(.inertial) else { return }
    warnings.add("imu-partial-record", plan.inertialPartialBytes > 0)
    let sorted = inertialTimes.sorted()
    warnings.add("imu-gap", zip(sorted.dropFirst(), sorted).count { $0 - $1 > 250_000_000 })
    warnings.add(
      "timestamps-unordered", zip(inertialTimes.dropFirst(), inertialTimes).count { $0 < $1 })
    if plan.claimedDepth != nil, abs(plan.declaredInertialSurplus) > 1 {
      warnings.add("frame-count-mismatch", abs(plan.declaredInertialSurplus))
    }
  }

  private mutating func countFiles() {
    if plan.missingFiles.contains(.text) {
      warnings.add("missing-file")
    } else {
      warnings.add("missing-key", plan.removedKeys.count + (plan.hasClosingKeys ? 0 : 4))
      warnings.add("unknown-key", plan.addedLines.count)
    }
    warnings.add("missing-file", plan.missingFiles.contains(.color))
    warnings.add("missing-file", plan.missingFiles.contains(.camera))
    warnings.add("imu-missing", plan.missingFiles.contains(.inertial))
  }

  /// Number of data rows of `frame_imu.csv` with a window of ±50 ms.
  var frameInertialRows: Int {
    let sorted = inertialTimes.sorted()
    return frameTimes.compactMap { $0 }.reduce(0) { rows, time in
      let first = sorted.partitioningIndex { $0 >= time - 50_000_000 }
      let end = sorted.partitioningIndex { $0 >= time + 50_000_001 }
      return rows + 5 * (end - first)
    }
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

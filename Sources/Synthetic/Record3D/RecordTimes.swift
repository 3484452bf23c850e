import Core

/// The times of a Record3D recording: seconds since the first frame.
struct RecordTimes {
  private let plan: RecordPlan
  private let clock: SampleClock
  private let rate: Double

  init(plan: RecordPlan, rate: Double, seed: UInt64) {
    self.plan = plan
    self.rate = rate
    clock = SampleClock(
      startNanoseconds: 0, rate: rate, jitterSeconds: 0.000_002, seed: seed, "frames")
  }

  /// Time of a frame in the scene, seconds.
  func worldSeconds(_ frame: Int) -> Double {
    let isLater = plan.gap.map { frame > $0.afterFrame } ?? false
    let index = frame + (isLater ? plan.gap?.frames ?? 0 : 0)
    guard index > 0 else { return 0 }
    // Finer than nanoseconds.
    return Double(clock.nanoseconds(of: index) - clock.nanoseconds(of: 0)) / 1e9 + 0.37e-9
  }

  /// The number of seconds in the metadata.
  func text(_ frame: Int) -> String {
    var shown = frame
    if let swapped = plan.swappedFrame {
      if frame == swapped { shown += 1 }
      if frame == swapped + 1 { shown -= 1 }
    }
    if let repeated = plan.repeatedTimeFrame, frame == repeated { shown -= 1 }
    return shown == 0 ? "0" : "\(worldSeconds(shown))"
  }

  /// Number of times in the metadata; `nil` without any.
  private var count: Int? {
    guard plan.isDescribed else { return nil }
    return switch plan.times {
    case .present: plan.frames
    case .short: plan.frames - 2
    case .absent: nil
    }
  }

  /// The time that a reader finds for a frame, nanoseconds.
  func recorded(_ frame: Int) -> Int64? {
    guard plan.isDescribed else { return nil }
    guard let count else {
      return Int64((Double(frame) * 1e9 / rate).rounded(.toNearestOrAwayFromZero))
    }
    return frame < count ? Timestamp(decimalSeconds: text(frame))?.nanoseconds : nil
  }
}

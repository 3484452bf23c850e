import Core

/// The times of a Stray Scanner capture: device uptime as decimal seconds.
struct StrayTimes {
  private let plan: StrayPlan
  private let clock: SampleClock
  private let base: Int64
  private let rate: Double
  private let seed: UInt64
  /// Rate of the motion samples, per second.
  private static let motionRate = 99.8
  /// Seconds from the last frame to the last sample; negative: before it.
  private static let motionTail = 0.078

  init(plan: StrayPlan, rate: Double, seed: UInt64) {
    self.plan = plan
    self.rate = rate
    self.seed = seed
    var random = SeededRandom(seed: seed, "uptime")
    base = Int64(random.uniform(20_000...300_000) * 1e9)
    clock = SampleClock(
      startNanoseconds: base, rate: rate, jitterSeconds: 0.000_002, seed: seed, "frames")
  }

  /// Nanoseconds of uptime when the picture of a frame was taken.
  private func taken(_ frame: Int) -> Int64 {
    let isLater = plan.gap.map { frame > $0.afterFrame } ?? false
    return clock.nanoseconds(of: frame + (isLater ? plan.gap?.frames ?? 0 : 0))
  }

  /// Time of a frame in the scene, seconds.
  func worldSeconds(_ frame: Int) -> Double { Double(taken(frame) - base) / 1e9 }

  /// The time that stands in the row of a frame.
  func text(_ frame: Int) -> String {
    var shown = frame
    if let swapped = plan.swappedFrame {
      if frame == swapped { shown += 1 }
      if frame == swapped + 1 { shown -= 1 }
    }
    if let repeated = plan.repeatedTimeFrame, frame == repeated { shown -= 1 }
    return "\(Double(taken(shown)) / 1e9)"
  }

  /// The time that a reader finds for a frame, nanoseconds.
  func recorded(_ frame: Int) -> Int64? {
    Timestamp(decimalSeconds: text(frame))?.nanoseconds
  }

  /// Uptime of all motion samples, seconds.
  var motion: [Double] {
    let first = taken(0) + Int64(plan.motionDelay * 1e9)
    let last = taken(plan.frames - 1) + Int64(Self.motionTail * 1e9)
    let clock = SampleClock(
      startNanoseconds: first, rate: Self.motionRate, jitterSeconds: 0.000_002, seed: seed,
      "motion")
    var times: [Double] = []
    while clock.nanoseconds(of: times.count) <= last {
      // Finer than nanoseconds, as the sensors' own times are.
      times.append(Double(clock.nanoseconds(of: times.count)) / 1e9 + 0.37e-9)
    }
    return times
  }

  func worldSeconds(ofUptime seconds: Double) -> Double { seconds - Double(base) / 1e9 }

  /// The time of a picture in the video, in 1/600 s: made up by the app, from one nominal frame
  /// before the movie's start.
  func ticks(_ frame: Int) -> Int64 {
    let step = Int64(max(1, (600 / rate).rounded()))
    return plan.video == .encodedAgain ? Int64(frame - 1) * step : Int64(frame) * step - 10
  }
}

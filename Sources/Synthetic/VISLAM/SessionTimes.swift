/// The times of a VI-SLAM session's pictures.
struct SessionTimes {
  /// Uptime at the scene's time 0.
  let base: Int64
  private let plan: SessionPlan
  private let clock: SampleClock
  static let ticksPerSecond = 600

  /// Camera periods as measured on phones: 33.323 ms for nominal 30 per second.
  init(plan: SessionPlan, rate: Double, seed: UInt64) {
    self.plan = plan
    var random = SeededRandom(seed: seed, "uptime")
    base =
      plan.form == .android
      ? 1_780_000_000_123_456_789 + Int64(random.uniform(0...1e6) * 1e9)
      : Int64(random.uniform(20_000...300_000) * 1e9)
    clock = SampleClock(
      startNanoseconds: base, rate: rate * 1.00031, jitterSeconds: 0.000_003, seed: seed,
      "frames")
  }

  func frame(_ frame: Int) -> Int64 {
    let isLater = plan.gapAfterFrame.map { frame > $0 } ?? false
    return clock.nanoseconds(of: frame) + (isLater ? Int64(clock.periodNanoseconds / 2) : 0)
  }

  func worldSeconds(_ nanoseconds: Int64) -> Double { Double(nanoseconds - base) / 1e9 }

  /// The container's time of a row's picture; 0 for the first existing picture.
  func ticks(_ row: Int) -> Int64 {
    let first = (0..<plan.frames).first { !plan.lostPictures.contains($0) } ?? 0
    let elapsed = Double(frame(row) - frame(first)) / 1e9
    return Int64((elapsed * Double(Self.ticksPerSecond)).rounded())
  }
}

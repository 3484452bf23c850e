import Media

/// The times at which frames of a MultiScan capture are taken and displayed.
struct MultiScanTimes {
  private let plan: MultiScanPlan
  /// Nanoseconds of uptime at the scene's time 0.
  let base: Int64
  private let clock: SampleClock
  static let ticksPerSecond = 600
  /// Clock of ARCore's filler lines: Unix time.
  private static let fillerBase: Int64 = 1_780_000_000_000_000_000

  init(plan: MultiScanPlan, rate: Double, seed: UInt64) {
    self.plan = plan
    var random = SeededRandom(seed: seed, "uptime")
    base = Int64(random.uniform(20_000...300_000) * 1e9)
    clock = SampleClock(
      startNanoseconds: base, rate: rate, jitterSeconds: 0.000_002, seed: seed, "frames")
  }

  /// True time of a camera frame, nanoseconds of uptime.
  func frame(_ frame: Int) -> Int64 {
    var index = frame
    if let gap = plan.gap, frame > gap.afterFrame { index += gap.frames }
    return clock.nanoseconds(of: index)
  }

  /// The container's time of a picture: variable rate, from 0.
  func ticks(_ picture: Int) -> Int64 {
    let elapsed = Double(frame(picture) - frame(0)) / 1e9
    return Int64((elapsed * Double(Self.ticksPerSecond)).rounded())
  }

  func worldSeconds(_ nanoseconds: Int64) -> Double { Double(nanoseconds - base) / 1e9 }

  /// Time in the scene of a frame. Modes without camera info have only the video's clock.
  func worldSeconds(ofFrame number: Int) -> Double {
    plan.generation.hasCameraInfo
      ? worldSeconds(frame(number)) : Double(ticks(number)) / Double(Self.ticksPerSecond)
  }

  /// The time in camera info line `line`; lines after the last frame are ARCore's filler.
  func line(_ line: Int) -> Int64 {
    if line >= plan.frames { return Self.fillerBase + Int64(line) * 1_000_003 }
    return frame(line == plan.repeatedTime ? line - 1 : line)
  }

  /// The time that a reader gives a frame; `nil` = empty cell.
  func recorded(_ frame: Int, motionStart: Int64?) -> Int64? {
    if plan.generation.hasCameraInfo { return plan.hasLine(frame) ? line(frame) : nil }
    guard frame < plan.readablePictures else { return nil }
    let base = VideoTimeBase(denominator: Int64(Self.ticksPerSecond))
    return base.nanoseconds(ofTicks: ticks(frame)).map { (motionStart ?? 0) + $0 }
  }
}

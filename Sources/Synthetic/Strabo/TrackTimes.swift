import Media

/// Display times of a movie's pictures: uneven steps on a clock of 600 ticks per second.
struct TrackTimes {
  static let ticksPerSecond = 600
  private let period: Double
  private let key: UInt64
  private let isStill: Bool

  init(rate: Double, isStill: Bool, seed: UInt64) {
    period = Double(Self.ticksPerSecond) / rate
    self.isStill = isStill
    var random = SeededRandom(seed: seed, "movie clock")
    key = random.next()
  }

  /// Increasing; every 30th step is one and a half times as long.
  func ticks(_ frame: Int) -> Int64 {
    if frame == 0 { return 0 }
    var random = SeededRandom(key: key, frame: frame, row: 0)
    let jitter = Double(random.index(below: 3) - 1)
    let place = (Double(frame) + 0.5 * Double(frame / 30)) * period
    return Int64((place + (period >= 8 ? jitter : 0)).rounded())
  }

  func seconds(_ frame: Int) -> Double { Double(ticks(frame)) / Double(Self.ticksPerSecond) }

  func nanoseconds(_ frame: Int) -> Int64 {
    VideoTimeBase(denominator: Int64(Self.ticksPerSecond)).nanoseconds(ofTicks: ticks(frame)) ?? 0
  }

  /// Duration of all frames; the last one is displayed for one period.
  func duration(frames: Int) -> Double {
    isStill ? 0 : seconds(frames - 1) + period / Double(Self.ticksPerSecond)
  }
}

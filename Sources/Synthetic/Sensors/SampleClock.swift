/// Sample times of a sensor: a constant rate with the jitter of a busy device, strictly ascending.
struct SampleClock {
  /// Time of sample 0 without jitter.
  let startNanoseconds: Int64
  let periodNanoseconds: Double
  /// Largest deviation to either side, less than half a period.
  let jitterNanoseconds: Double
  private let key: UInt64

  init(
    startNanoseconds: Int64, rate: Double, jitterSeconds: Double, seed: UInt64, _ purpose: String
  ) {
    self.startNanoseconds = startNanoseconds
    periodNanoseconds = 1e9 / rate
    jitterNanoseconds = min(jitterSeconds * 1e9, 0.45 * periodNanoseconds)
    var random = SeededRandom(seed: seed, "clock of \(purpose)")
    key = random.next()
  }

  /// A camera's frames on a device that was started some hours before.
  init(rate: Double, jitterSeconds: Double, seed: UInt64) {
    var random = SeededRandom(seed: seed, "uptime")
    self.init(
      startNanoseconds: Int64(random.uniform(20_000...300_000) * 1e9), rate: rate,
      jitterSeconds: jitterSeconds, seed: seed, "frames")
  }

  /// The times of all samples up to a time.
  func times(through end: Int64) -> [Int64] {
    Array((0...).lazy.map(nanoseconds).prefix { $0 <= end })
  }

  /// The time of a sample. Clocks that count microseconds have three zeros as their last digits.
  func nanoseconds(of index: Int) -> Int64 {
    var random = SeededRandom(key: key, frame: index, row: 0)
    let jitter = (random.unit() * 2 - 1) * jitterNanoseconds
    let time = (Double(index) * periodNanoseconds + jitter).rounded(.toNearestOrAwayFromZero)
    return startNanoseconds + Int64(time)
  }
}

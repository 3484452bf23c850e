/// Times at which a sensor reports: a steady rate with the jitter of a busy device, strictly
/// ascending.
struct SampleClock: Sendable {
  /// Of sample 0 without jitter.
  let startNanoseconds: Int64
  let periodNanoseconds: Double
  /// At most this much to either side, less than half a period.
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

  /// The time of a sample. Device clocks that count microseconds never end in three digits other than 0.
  func nanoseconds(of index: Int) -> Int64 {
    var random = SeededRandom(key: key, frame: index, row: 0)
    let jitter = (random.unit() * 2 - 1) * jitterNanoseconds
    let time = (Double(index) * periodNanoseconds + jitter).rounded(.toNearestOrAwayFromZero)
    return startNanoseconds + Int64(time)
  }
}

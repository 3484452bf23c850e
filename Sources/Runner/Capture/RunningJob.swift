import Pipeline

/// A job on its thread, as the one who started it sees it.
struct RunningJob {
  let progress = StageProgress()
  /// Cancelled when the run is interrupted.
  let interrupt: Cancellation
  /// Cancelled also when the job has run out of its own time.
  let cancellation: Cancellation
  /// On the monotonic clock.
  let startedSeconds: Double
  let timeoutNanoseconds: Int64?
  /// The most that the process had in memory when looked at while the job ran.
  private(set) var peakMemoryBytes: Int64 = 0

  init(startedSeconds: Double, timeoutNanoseconds: Int64?, abort: Cancellation) {
    interrupt = Cancellation(parent: abort)
    cancellation = Cancellation(parent: interrupt)
    self.startedSeconds = startedSeconds
    self.timeoutNanoseconds = timeoutNanoseconds
  }

  mutating func note(memoryBytes: Int64) { peakMemoryBytes = max(peakMemoryBytes, memoryBytes) }

  /// How long it will still take at the rate so far; `nil` when that cannot be told.
  func secondsLeft(atSeconds now: Double) -> Double? {
    let (done, total) = (progress.done, progress.total)
    guard done > 0, total >= done else { return nil }
    return (now - startedSeconds) * Double(total - done) / Double(done)
  }

  /// Why it must not go on; `nil` while it may.
  func reasonToStop(atSeconds now: Double) -> String? {
    guard let limit = timeoutNanoseconds, now > startedSeconds + Double(limit) / 1e9 else {
      return nil
    }
    return "took longer than its timeout of \(DurationText.text(nanoseconds: limit))"
  }
}

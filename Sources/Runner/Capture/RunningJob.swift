import Pipeline

/// A job on its thread, as the one who started it sees it.
struct RunningJob {
  let progress = StageProgress()
  /// Cancelled when the run is interrupted.
  let interrupt: Cancellation
  /// Cancelled also when the job has run out of its own time.
  let cancellation: Cancellation
  /// All on the monotonic clock.
  let startedSeconds: Double
  let deadlineSeconds: Double?
  /// The most that the process had in memory when looked at while the job ran.
  private(set) var peakMemoryBytes: Int64 = 0

  init(startedSeconds: Double, timeoutSeconds: Double?, abort: Cancellation) {
    interrupt = Cancellation(parent: abort)
    cancellation = Cancellation(parent: interrupt)
    self.startedSeconds = startedSeconds
    deadlineSeconds = timeoutSeconds.map { startedSeconds + $0 }
  }

  mutating func note(memoryBytes: Int64) { peakMemoryBytes = max(peakMemoryBytes, memoryBytes) }

  /// How long it will still take at the rate so far; `nil` when that cannot be told.
  func secondsLeft(atSeconds now: Double) -> Double? {
    let (done, total) = (progress.done, progress.total)
    guard done > 0, total >= done else { return nil }
    return (now - startedSeconds) * Double(total - done) / Double(done)
  }
}

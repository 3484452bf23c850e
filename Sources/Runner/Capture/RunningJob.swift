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
  /// How long it may show no sign of life.
  let stallNanoseconds: Int64?
  /// The last sign of life, and when it was seen.
  private var sign: [Int] = []
  private var signSeconds: Double
  /// The most that the process had in memory when looked at while the job ran.
  private(set) var peakMemoryBytes: Int64 = 0

  init(
    startedSeconds: Double, timeoutNanoseconds: Int64?, stallNanoseconds: Int64? = nil,
    abort: Cancellation
  ) {
    interrupt = Cancellation(parent: abort)
    cancellation = Cancellation(parent: interrupt)
    self.startedSeconds = startedSeconds
    self.timeoutNanoseconds = timeoutNanoseconds
    self.stallNanoseconds = stallNanoseconds
    signSeconds = startedSeconds
  }

  mutating func note(memoryBytes: Int64) { peakMemoryBytes = max(peakMemoryBytes, memoryBytes) }

  /// How long it will still take at the rate so far; `nil` when that cannot be told.
  func secondsLeft(atSeconds now: Double) -> Double? {
    let (done, total) = (progress.done, progress.total)
    guard done > 0, total >= done else { return nil }
    return (now - startedSeconds) * Double(total - done) / Double(done)
  }

  /// Looks for signs of life: frames, output and use of the processor of a program, and anything that
  /// the process has digested.
  mutating func look(digested: Int, atSeconds now: Double) {
    let found = [progress.signsOfLife, digested]
    guard found != sign else { return }
    sign = found
    signSeconds = now
  }

  /// Why it must not go on; `nil` while it may.
  func reasonToStop(atSeconds now: Double) -> String? {
    if let limit = stallNanoseconds, now > signSeconds + Double(limit) / 1e9 {
      return "stalled: no progress for \(DurationText.text(nanoseconds: limit))"
    }
    guard let limit = timeoutNanoseconds, now > startedSeconds + Double(limit) / 1e9 else {
      return nil
    }
    return "took longer than its timeout of \(DurationText.text(nanoseconds: limit))"
  }
}

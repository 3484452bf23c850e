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
  /// How long the clock of the last sign was held back because a disk was waited for.
  private var diskSeconds = 0.0
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

  /// At most so long a wait for a disk is no stall.
  private static let diskPatienceSeconds = 3600.0

  /// Looks for signs of life: frames, output and use of the processor of a program, and anything that
  /// the process has digested. Who waits for a core that others have, or for a disk to take what was written, is not
  /// to blame.
  ///
  /// - Parameter waitsForDisk: whether a thread of the process does so now; asked only when time runs short.
  mutating func look(digested: Int, atSeconds now: Double, waitsForDisk: () -> Bool) {
    let found = [progress.signsOfLife, digested]
    if found != sign || progress.isWaiting {
      sign = found
      signSeconds = now
      return
    }
    guard let limit = stallNanoseconds else { return }
    let rest = now - Double(limit) / 1e9 * 0.9
    guard rest > signSeconds, diskSeconds < Self.diskPatienceSeconds, waitsForDisk() else { return }
    diskSeconds += rest - signSeconds
    signSeconds = rest
  }

  /// Why it must not go on; `nil` while it may.
  func reasonToStop(atSeconds now: Double) -> (why: String, limit: FailureDetail.Code)? {
    if let limit = stallNanoseconds, now > signSeconds + Double(limit) / 1e9 {
      return ("stalled: no progress for \(DurationSyntax.text(nanoseconds: limit))", .stalled)
    }
    guard let limit = timeoutNanoseconds, now > startedSeconds + Double(limit) / 1e9 else {
      return nil
    }
    return (
      "took longer than its timeout of \(DurationSyntax.text(nanoseconds: limit))", .outOfTime
    )
  }
}

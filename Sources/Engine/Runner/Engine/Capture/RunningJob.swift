import Core
import Glibc

/// A job on its thread, as the one who started it sees it, and what may end it before its time: its own limits and an
/// interrupt.
struct RunningJob {
  let progress = StageProgress()
  /// Cancelled when the run is interrupted.
  private let interrupt: Cancellation
  /// Cancelled also when the job has run out of its own time.
  let cancellation: Cancellation
  /// The start on the monotonic clock.
  private let startedSeconds: Double
  private let timeoutNanoseconds: Int64?
  /// How long it may show no sign of life.
  private let stallNanoseconds: Int64?
  /// The last sign of life, and when it was seen.
  private var sign: [Int] = []
  private var signSeconds: Double
  /// How long the clock of the last sign was held back because a disk was waited for.
  private var diskSeconds = 0.0
  /// The most that the process had in memory when looked at while the job ran.
  private(set) var peakMemoryBytes: Int64 = 0

  /// - Parameter stall: how long a stage without a word of its own may show no sign of life, in nanoseconds; `nil`: for
  ///   ever.
  init(
    _ stage: StageDefinition, atSeconds now: Double, stall: Int64? = nil, abort: Cancellation
  ) {
    interrupt = Cancellation(parent: abort)
    cancellation = Cancellation(parent: interrupt)
    startedSeconds = now
    signSeconds = now
    timeoutNanoseconds = stage.timeoutNanoseconds
    stallNanoseconds = stage.stallNanoseconds ?? stall
  }

  mutating func note(memoryBytes: Int64) { peakMemoryBytes = max(peakMemoryBytes, memoryBytes) }

  /// Asks it to stop unless, at its rate so far, it will be done within what is left of the grace of an interrupt.
  func interrupt(secondsLeft left: Double, atSeconds now: Double) {
    let (done, total) = (progress.done, progress.total)
    if left > 0, done > 0, total >= done,
      (now - startedSeconds) * Double(total - done) / Double(done) <= left
    {
      return
    }
    interrupt.cancel("interrupted")
  }

  /// At most so long a wait for a disk is no stall.
  private static let diskPatienceSeconds = 3600.0

  /// Asks it to stop when it has reached a limit of its own. Returns which, whether it was asked now or before.
  ///
  /// - Parameters:
  ///   - digested: a number that grows while the process reads and writes.
  ///   - waitsForDisk: whether a thread of the process does now.
  mutating func stopIfOverdue(
    digested: Int = 0, atSeconds now: Double,
    waitsForDisk: () -> Bool = { ProcessSigns(of: getpid())?.waitsForDisk ?? false }
  ) -> String? {
    look(digested: digested, atSeconds: now, waitsForDisk: waitsForDisk)
    guard let reason = reasonToStop(atSeconds: now) else { return nil }
    cancellation.cancel(reason.why, limit: reason.limit)
    return reason.why
  }

  /// Looks for signs of life: frames, output and use of the processor of a program, and anything that
  /// the process has digested. Who waits for a core that others have, or for a disk to take what was written, is not
  /// to blame.
  ///
  /// - Parameter waitsForDisk: whether a thread of the process does so now; asked only when time runs short.
  private mutating func look(digested: Int, atSeconds now: Double, waitsForDisk: () -> Bool) {
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
  private func reasonToStop(atSeconds now: Double) -> (why: String, limit: FailureDetail.Code)? {
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

import Core

/// A worker as the supervisor sees it.
struct RunningWorker {
  var child: ChildProcess?
  var instructions: LineWriter?
  let log: LogFile
  var partialReport = PartialReport()
  var outcome: CaptureOutcome?
  /// When each running stage must have ended, on the monotonic clock.
  var deadlines: [String: Deadline] = [:]
  /// Whether it gets on, seen from outside.
  var watch: LifeWatch
  /// Why we have killed it, or it itself.
  var kill: WorkerKill?
  /// Whether the worker was killed because it did not get on, by no fault of a limit that was set.
  var isStuck: Bool { kill?.code == .hung }
  var isInterrupted = false
  /// Among all workers of all runs.
  let place: Int
  var share: Int

  struct Deadline {
    var seconds: Double
    /// Whether the worker was asked to stop because it showed no progress, not because its time was over.
    var isStall = false
  }
}

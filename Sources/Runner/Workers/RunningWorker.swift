import Processes

/// A worker as the supervisor sees it.
struct RunningWorker {
  var child: ChildProcess?
  var instructions: LineWriter?
  var trace = CaptureTrace()
  var outcome: CaptureOutcome?
  /// When each running stage must have ended, on the monotonic clock.
  var deadlinesSeconds: [String: Double] = [:]
  /// Why we have killed it, or it itself.
  var killReason: String?
  var isInterrupted = false
  var exceededMemory = false
  var share: Int
}

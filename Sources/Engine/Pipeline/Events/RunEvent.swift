import Captures

/// An event of a run: a line of `events.jsonl`. Logs, the progress display and the status derive
/// from events.
public struct RunEvent: Hashable, Sendable, Codable {
  public enum Kind: String, Codable, Sendable {
    case runStarted = "run-started"
    case captureStarted = "capture-started"
    /// The capture waits: for another run that holds it, for a resource, or to be retried. The
    /// message says which.
    case waiting
    /// Another process works on the capture although this one holds its lock.
    case locksNotShared = "locks-not-shared"
    case planned
    case started
    case progress
    case finished
    case retried
    /// A stage has reached one of its limits and was asked to stop; the message says which.
    case stopping
    case blocked
    case captureFinished = "capture-finished"
    /// The state of a run on a batch system, as a text.
    case cluster
    /// An array task has started on a node.
    case elementStarted = "element-started"
    case elementEnded = "element-ended"
    /// Captures of an array task are given to another one; the message says why.
    case elementRetried = "element-retried"
    /// An array task ended without results, with its node or for another external reason.
    case elementLost = "element-lost"
    case runFinished = "run-finished"
  }

  public var schema = 1
  public var kind: Kind
  /// The time in UTC (ISO 8601 with milliseconds).
  public var time: String
  public var capture: String?
  public var stage: String?
  public var uses: String?
  public var action: PlannedJob.Action?
  public var outcome: RunOutcome?
  public var reason: Reason?
  public var message: String?
  /// Cause of a failure.
  public var cause: FailureCause?
  /// What exactly went wrong.
  public var detail: FailureDetail?
  public var seconds: Double?
  /// Frames done so far, or in total.
  public var frames: Int?
  /// Expected total; absent when unknown.
  public var totalFrames: Int?
  public var warnings: [CaptureWarning]?
  /// Missing files of a complete upload.
  public var missing: [String]?
  public var exit: Int?
  /// Number of captures that have ended, and of all captures of the run.
  public var done: Int?
  public var total: Int?
  /// Number of an array task, its batch system id, and its node.
  public var element: Int?
  public var job: String?
  public var node: String?

  /// Why a stage or a capture is not made.
  var why: Failure {
    get { Failure(message: message, cause: cause, detail: detail) }
    set { (message, cause, detail) = (newValue.message, newValue.cause, newValue.detail) }
  }
}

/// Receives events from several threads.
public protocol EventSink: Sendable {
  func send(_ event: RunEvent)
}

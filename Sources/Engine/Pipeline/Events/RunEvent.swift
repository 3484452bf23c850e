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
  /// UTC, ISO 8601 with milliseconds.
  public var time: String
  public var kind: Kind
  public var capture: String?
  public var stage: String?
  public var uses: String?
  public var action: PlannedJob.Action?
  public var outcome: RunOutcome?
  public var reason: Reason?
  public var message: String?
  /// Cause of a failure.
  public var cause: FailureCause?
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

  public init(_ kind: Kind, time: String, capture: String? = nil, stage: String? = nil) {
    self.kind = kind
    self.time = time
    self.capture = capture
    self.stage = stage
  }
}

/// Receives events from several threads.
public protocol EventSink: Sendable {
  func send(_ event: RunEvent)
}

/// What failed and why, as it goes from the report of a job to the record of a run, to the state of a capture and
/// to what is told of it.
public struct Failure: Hashable, Sendable, Codable {
  /// `nil`: the capture as a whole.
  public var stage: String?
  /// File, what is wrong, and what to do about it; `nil` if no reason was given.
  public var message: String?
  /// `nil`: not known, or none of its own: a stage that another one keeps from running.
  public var cause: FailureCause?

  public init(stage: String? = nil, message: String?, cause: FailureCause? = nil) {
    self.stage = stage
    self.message = message
    self.cause = cause
  }

  /// The text where no reason was given.
  public static let noReason = "no reason was given"
}

/// The cause of a failure, in categories that determine what can be done.
public enum FailureCause: String, Hashable, Codable, Sendable, CaseIterable {
  /// A stream cannot be read. Retrying does not help.
  case input
  /// A stage failed for another reason, crashed, or exceeded its time or memory.
  case program
  /// A file or folder of the capture may not be read by the user that the program runs as. Retrying helps once its
  /// permissions change.
  case permission
  /// Disk full, device error, unreachable input or output, or a shortage of a resource. Retrying
  /// helps once the machine allows it.
  case machine

  /// The cause of a capture whose stages failed for several causes: one for which a later attempt
  /// may succeed has precedence.
  static func deciding(_ causes: some Sequence<FailureCause>) -> FailureCause? {
    let all = Set(causes)
    return [machine, program, permission, input].first(where: all.contains)
  }
}

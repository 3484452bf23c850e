import Captures

/// Something that happened in a run: a line of `events.jsonl`. Logs, the progress display and the
/// status are views of these.
public struct RunEvent: Hashable, Sendable, Codable {
  public enum Kind: String, Codable, Sendable {
    case runStarted = "run-started"
    case captureStarted = "capture-started"
    /// The capture waits: for another run that holds it, for what is short, or to be tried once more. The message
    /// says which.
    case waiting
    /// Somebody else works on the capture though we hold its lock.
    case locksNotShared = "locks-not-shared"
    case planned
    case started
    case progress
    case finished
    case retried
    /// A stage has reached a limit of its own and was asked to stop; the message says which.
    case stopping
    case blocked
    case captureFinished = "capture-finished"
    /// How a run on a batch system stands, in words.
    case cluster
    /// An element of one has begun on a node.
    case elementStarted = "element-started"
    case elementEnded = "element-ended"
    /// Captures of it are given to another element; the message says why.
    case elementRetried = "element-retried"
    /// It ended without its results, with its node or for another reason outside of it.
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
  public var outcome: JobOutcome?
  public var reason: Reason?
  public var message: String?
  /// Of a failure.
  public var cause: FailureCause?
  public var seconds: Double?
  /// Done so far, or in all.
  public var frames: Int?
  /// Expected in all; absent when unknown.
  public var totalFrames: Int?
  public var warnings: [CaptureWarning]?
  /// Files that a complete upload would have.
  public var missing: [String]?
  public var exit: Int?
  /// Captures that have ended, and all captures of the run.
  public var done: Int?
  public var total: Int?
  /// The number of an element, how the batch system calls it, and where it works.
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

/// Takes events from several threads.
public protocol EventSink: Sendable {
  func send(_ event: RunEvent)
}

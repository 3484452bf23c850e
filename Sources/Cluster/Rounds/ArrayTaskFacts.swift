import Engine

/// What is known about a submitted array task from its results and from the batch system. The
/// caller also checks which artifacts are visible.
struct ArrayTaskFacts: Hashable, Sendable {
  var number: Int
  var task: TaskID
  var request: JobRequest
  var captures: [CaptureFacts]
  var begin: ArrayTaskBegin?
  var end: ArrayTaskEnd?
  /// The last state from the batch system; `nil` if it does not know the task, or not yet.
  var view: TaskView?
  /// Seconds since the batch system or the task itself reported the end; `nil` if neither did.
  var secondsOver: Double?
  /// Seconds since the task was first missing in the queue; `nil` if it is not missing.
  var secondsGone: Double?
  /// The last lines of its log, for messages.
  var log: [String] = []

  var node: String? { begin?.host ?? view?.node }
}

/// What is known about one capture of an array task.
struct CaptureFacts: Hashable, Sendable {
  var name: String
  var history: CaptureHistory
  /// The outcome in its results line; `nil` without a line.
  var outcome: CaptureOutcome?
  /// Whether all artifacts named by the line are visible on this machine.
  var isVisible = true
  /// Whether work on it began.
  var began = false
  /// Stages that published results in this array task.
  var published: Set<String> = []
}

/// Limits for retries and waiting.
struct RoundLimits: Hashable {
  var maxMemoryBytes: Int64
  var maxTimeSeconds: Int
  /// A capture fails when this many of its array tasks were lost.
  var losses = 3
  /// How long a result may take to become visible here. Caches of network file systems remember
  /// absence for up to a minute.
  var visibilitySeconds = 90.0
  /// How long the batch system may take to report why a task ended.
  var causeSeconds = 60.0
  /// How long a task must be missing in the queue before it counts as lost.
  var goneSeconds = 30.0
}

/// What to do about an array task.
enum ArrayTaskDecision: Hashable {
  case wait
  /// The task will never start, and neither will others with the same request: a configuration
  /// error.
  case never(String)
  /// The task has ended, or will never start. Has a decision for each of its captures.
  case settle([String: CaptureDecision], Ending)

  /// How the end is reported.
  enum Ending: Hashable {
    case ended
    case lost(String)
    /// The task failed before it could work on a capture.
    case broken(Breakdown)
  }
}

/// Failures that are unrelated to captures.
enum Breakdown: Hashable {
  /// The shell did not find the program (exit code 127).
  case programMissing
  /// The batch system could not write the log (`0:53`).
  case logFolderMissing
  /// The task refused to start; the value is its reason.
  case refused(String)
  /// The script ended with another exit code before the program started.
  case exit(Int)
}

/// What to do about a capture of an array task that has ended.
enum CaptureDecision: Hashable {
  /// Accept the outcome of its line.
  case believe
  /// Retry in another array task.
  case again(CaptureHistory, why: String)
  case fail(Failure)
  /// Another process holds it: retry later.
  case later
}

import Output
import Pipeline
import Runner

/// What is known of an element that was submitted: by its results, by the batch system, and for how long.
/// The captures' artifacts are looked at by whoever makes this.
public struct ArrayTaskFacts: Hashable, Sendable {
  public var number: Int
  public var task: TaskID
  public var request: JobRequest
  public var captures: [CaptureFacts]
  public var begin: ArrayTaskBegin?
  public var end: ArrayTaskEnd?
  /// As the batch system last said; `nil`: it says nothing of it (yet, or any more).
  public var view: TaskView?
  /// How long the batch system has said that it is over, or the element itself; `nil`: neither.
  public var secondsOver: Double?
  /// How long it has been missing in the queue although it had been submitted; `nil`: it is not.
  public var secondsGone: Double?
  /// The last lines of its log, for messages.
  public var log: [String] = []

  public init(number: Int, task: TaskID, request: JobRequest, captures: [CaptureFacts]) {
    self.number = number
    self.task = task
    self.request = request
    self.captures = captures
  }

  public var node: String? { begin?.host ?? view?.node }
}

/// What is known of one capture of an element.
public struct CaptureFacts: Hashable, Sendable {
  public var name: String
  public var history: CaptureHistory
  /// Its line in the results.
  public var outcome: CaptureOutcome?
  /// Whether all that the line says was published can be seen from here.
  public var isVisible = true
  /// Whether work on it began.
  public var began = false
  /// Stages that were published in this element.
  public var published: Set<String> = []

  public init(name: String, history: CaptureHistory) {
    self.name = name
    self.history = history
  }
}

/// How far things may grow.
public struct RoundLimits: Hashable, Sendable {
  public var maxMemoryBytes: Int64
  public var maxTimeSeconds: Int
  /// Nodes that an element is lost with before its captures are given up.
  public var losses = 3
  /// What a result may take to be seen from here: caches of network file systems keep what was absent for
  /// up to a minute.
  public var visibilitySeconds = 90.0
  /// What the batch system may take to say why an element ended.
  public var causeSeconds = 60.0
  /// How long an element must be missing in the queue before it counts as lost.
  public var goneSeconds = 30.0

  public init(maxMemoryBytes: Int64, maxTimeSeconds: Int) {
    self.maxMemoryBytes = maxMemoryBytes
    self.maxTimeSeconds = maxTimeSeconds
  }
}

/// What is to be done about an element.
public enum ArrayTaskDecision: Hashable, Sendable {
  case wait
  /// It will never start, and no other of its kind: a configuration error.
  case never(String)
  /// It is over, or is to be ended: every capture's part. Those that are not named have been decided.
  case settle([String: CaptureDecision], Ending)

  /// What to say of its end.
  public enum Ending: Hashable, Sendable {
    case ended
    case lost(String)
    /// It broke before it could work, in this way.
    case broken(Breakdown)
  }
}

/// Ways to break that have nothing to do with captures.
public enum Breakdown: Hashable, Sendable {
  /// The shell did not find the program (127).
  case programMissing
  /// The batch system could not write the log (`0:53`).
  case logFolderMissing
  /// The element refused to begin.
  case refused(String)
  /// Another code of a script that never came to the program.
  case exit(Int)
}

/// What is to be done about a capture of an element that is over.
public enum CaptureDecision: Hashable, Sendable {
  /// Its line is the truth.
  case believe
  /// Once more, in another element.
  case again(CaptureHistory, why: String)
  case fail(String, FailureCause)
  /// Somebody else works on it: later.
  case later
}

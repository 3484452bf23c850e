import Captures
import Pipeline

/// What became of a run: the object of `run --json` and of `run.json`.
public struct RunReport: Sendable, Codable, Hashable {
  public var schema = 1
  public var run: String
  public var exit: Int = 0
  public var captures: [CaptureReport] = []
  /// Folders that were found and hold files, but no capture of a known family.
  public var unrecognized: [Unrecognized] = []
  public var totals = RunTotals()

  public struct Unrecognized: Sendable, Codable, Hashable {
    public var path: String
    /// Names of what lies in it.
    public var holds: [String]

    public init(path: String, holds: [String]) {
      self.path = path
      self.holds = holds
    }
  }

  public init(run: String) {
    self.run = run
  }
}

/// What became of one capture.
public struct CaptureReport: Sendable, Codable, Hashable {
  public enum Outcome: String, Codable, Sendable {
    case done, failed, blocked, skipped
    /// The run was interrupted before it was done; no failure.
    case interrupted
  }

  public var id: String
  public var path: String
  public var family: String?
  public var outcome: Outcome
  /// Why it failed or was skipped, when no stage says it.
  public var message: String?
  /// Of a failure: the one that decides what helps.
  public var cause: FailureCause?
  public var stages: [StageReport]
  public var warnings: [CaptureWarning]
  /// Files that a complete upload would have, as in `capture.json`.
  public var missing: [String] = []

  public init(
    id: String, path: String, family: String?, outcome: Outcome, message: String? = nil,
    cause: FailureCause? = nil
  ) {
    self.cause = cause
    self.id = id
    self.path = path
    self.family = family
    self.outcome = outcome
    self.message = message
    stages = []
    warnings = []
  }

  /// Kinds of warnings; notes do not count.
  public var warningCount: Int { warnings.withoutNotes.count }

  /// Stages that ended well; those that do not apply count in neither number.
  public var stagesDone: Int { stages.count { $0.outcome.isUsable } }
  public var stagesApplicable: Int { stages.count { $0.outcome != .notApplicable } }
}

/// What became of one stage of one capture.
public struct StageReport: Sendable, Codable, Hashable {
  public var stage: String
  public var uses: String
  public var outcome: JobOutcome
  public var reason: Reason?
  public var message: String?
  /// Of a failure.
  public var cause: FailureCause?
  public var seconds: Double?
  public var cpuSeconds: Double?
  public var frames: Int?
  public var framesPerSecond: Double?
  /// Bytes of the artifact.
  public var outputBytes: Int64?
  /// The most memory that the capture's process had while the stage ran, looked at four times a second;
  /// stages beside it included, programs that it started not.
  public var peakMemoryBytes: Int64?

  public init(stage: String, uses: String, outcome: JobOutcome) {
    self.stage = stage
    self.uses = uses
    self.outcome = outcome
  }
}

import Captures
import Core
import SystemPackage

/// One run, as its journal tells.
public struct RunEntry: Hashable, Sendable, Codable {
  /// What a run made of one capture.
  public struct Attempt: Hashable, Sendable, Codable {
    /// The name of its folder in the output, where it has one.
    public var capture: String
    public var path: String?
    public var family: String?
    /// `nil`: the run ended, or goes on, without having said how it ended.
    public var outcome: RunOutcome?
    /// Why the capture failed, if the reason is not that of a stage.
    var why = Failure()
    var failures: [Failure] = []
    public var warnings: [CaptureWarning] = []
    /// Among the warnings as well.
    var shortfalls: [Shortfall]?
    var missing: [String] = []
    var altered: [String]?
    /// The start in UTC (ISO 8601); `nil`: nothing was started.
    public var started: String?
    public var finished: String?
    public var frames = 0
    /// Bytes that it has added to what lies in the output.
    var bytes: Int64 = 0
    public var cpuSeconds = 0.0
    /// Longest stage, where no times of the capture are known.
    var stageSeconds: Double?
    /// Element of a run on a batch system.
    var cluster: ClusterTrace?

    var hasFailed: Bool { outcome?.hasFailed == true }

    var hasSucceeded: Bool { outcome?.isDone == true || outcome == .notPossible }

    /// Whether it left the capture in need of a person.
    var neededPerson: Bool {
      !NeedReason.all(
        hasFailed ? CaptureState.failed : hasSucceeded ? .done : .queued, missing: missing,
        altered: altered ?? [], shortfalls: shortfalls ?? []
      ).isEmpty
    }

    /// Whether the run did anything about it.
    var isWork: Bool { outcome != .skipped }
  }

  public var id: String
  /// The start in UTC (ISO 8601).
  public var started: String
  /// `nil`: it goes on, or was killed.
  public var finished: String?
  /// When its last event happened.
  var lastEvent: String?
  /// The pipeline as it was named.
  public var pipeline: String?
  /// `nil` for one that comes with the program.
  var pipelinePath: String?
  public var program: ProgramIdentity?
  var host: String?
  var user: String?
  var unrecognized: [RunReport.Unrecognized] = []
  var attempts: [Attempt] = []

  /// Whether its process, or its jobs on a batch system, may still be at work.
  func mayGoOn(in root: FilePath, nowNanoseconds: Int64) -> Bool {
    guard finished == nil, let id = RunID(id) else { return false }
    let seconds = UTCText.nanoseconds(end).map { (nowNanoseconds - $0) / 1_000_000_000 }
    return id.mayGoOn(secondsSinceChange: seconds ?? 0)
      || FileSystem.exists(OutputLayout.run(id.text, in: root).appending(OutputNames.cluster))
  }

  /// When it ended as far as anybody knows.
  public var end: String { finished ?? lastEvent ?? started }

  /// How long it lasted.
  public var seconds: Double { UTCText.seconds(from: started, to: end) }

  /// When an attempt of it ended, as far as anybody knows.
  public func end(of attempt: Attempt) -> String { attempt.finished ?? attempt.started ?? end }
}

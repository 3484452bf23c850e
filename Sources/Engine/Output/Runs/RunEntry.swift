import Captures
import Core

/// One run, as its journal tells.
public struct RunEntry: Hashable, Sendable, Codable {
  /// What a run made of one capture.
  public struct Attempt: Hashable, Sendable, Codable {
    /// The name of its folder in the output, where it has one.
    public var capture: String
    public var path: String?
    public var family: String?
    /// `nil`: the run ended, or goes on, without having said how it ended.
    public var outcome: CaptureReport.Outcome?
    public var message: String?
    public var cause: FailureCause?
    public var failures: [Failure] = []
    public var warnings: [CaptureWarning] = []
    /// Among the warnings as well.
    public var shortfalls: [Shortfall]?
    public var missing: [String] = []
    /// UTC, ISO 8601; `nil`: nothing was started.
    public var started: String?
    public var finished: String?
    public var frames = 0
    public var bytesWritten: Int64 = 0
    public var cpuSeconds = 0.0
    /// Longest stage, where no times of the capture are known.
    public var stageSeconds: Double?
    /// Of a run on a batch system.
    public var cluster: ClusterTrace?

    public init(capture: String) { self.capture = capture }

    public var hasFailed: Bool { outcome == .failed || outcome == .blocked }

    /// Whether the run did anything about it.
    public var isWork: Bool { outcome != .skipped }
  }

  public var id: String
  /// UTC, ISO 8601.
  public var started: String
  /// `nil`: it goes on, or was killed.
  public var finished: String?
  /// When its last event happened.
  public var lastEvent: String?
  /// As it was named.
  public var pipeline: String?
  /// `nil` for one that comes with the program.
  public var pipelinePath: String?
  public var program: ProgramIdentity?
  public var host: String?
  public var user: String?
  public var unrecognized: [RunReport.Unrecognized] = []
  public var attempts: [Attempt] = []

  public init(id: String, started: String) {
    self.id = id
    self.started = started
  }

  /// When it ended as far as anybody knows.
  public var end: String { finished ?? lastEvent ?? started }

  /// How long it lasted.
  public var seconds: Double { UTCText.seconds(from: started, to: end) }

  /// When an attempt of it ended, as far as anybody knows.
  public func end(of attempt: Attempt) -> String { attempt.finished ?? attempt.started ?? end }
}

import Pipeline
import Storage
import SystemPackage

/// `DIR/<capture-id>/.scanmill/triage.json`: the attempts at a capture that have failed since its files,
/// the program and the pipeline last changed. Absent when nothing has failed. The only place that
/// quarantine stands in: nothing is moved or deleted.
public struct TriageRecord: Hashable, Sendable, Codable {
  public var schema = 1
  /// What the attempts are counted for: files of the capture, program and pipeline. Another key is
  /// another beginning.
  public var key: String
  /// Failed attempts with cause `program`; others do not count.
  public var attempts: Int
  /// Of the last attempt.
  public var cause: FailureCause
  public var message: String
  /// The stage that failed; `nil`: the capture as a whole.
  public var stage: String?
  /// Id of the run of the last attempt.
  public var run: String
  /// When the last attempt ended (UTC, ISO 8601).
  public var time: String
  /// When it is tried again at the earliest (UTC, ISO 8601); `nil`: it is not, or as soon as the machine
  /// allows.
  public var retryAt: String?
  public var isQuarantined: Bool
  /// The capture's place was gone when it failed.
  public var isGone: Bool
  /// With cause `permission`: user and groups of the process that could not read. Another one tries again.
  public var user: String?

  public static let fileName = NotesFile.triageName

  public init(
    key: String, attempts: Int, cause: FailureCause, message: String, stage: String? = nil,
    run: String, time: String, retryAt: String? = nil, isQuarantined: Bool = false,
    isGone: Bool = false
  ) {
    self.key = key
    self.attempts = attempts
    self.cause = cause
    self.message = message
    self.stage = stage
    self.run = run
    self.time = time
    self.retryAt = retryAt
    self.isQuarantined = isQuarantined
    self.isGone = isGone
  }

  /// What is noted of a capture; `nil`: nothing has failed, or the note is damaged.
  public init?(of layout: OutputLayout) {
    guard let record = NotesFile.read(TriageRecord.self, Self.fileName, of: layout),
      record.schema == 1
    else { return nil }
    self = record
  }
}

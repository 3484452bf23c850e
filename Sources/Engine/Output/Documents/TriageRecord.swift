import Core
import SystemPackage

/// `DIR/<capture-id>/.scanmill/triage.json`: the attempts at a capture that have failed since its files,
/// the program and the pipeline last changed. Absent when nothing has failed. The only place that
/// quarantine stands in: nothing is moved or deleted.
public struct TriageRecord: Hashable, Sendable {
  /// What the attempts are counted for: files of the capture, program and pipeline. Another key is
  /// another beginning.
  public var key: String
  /// Failed attempts with cause `program`; others do not count.
  public var attempts: Int
  /// Failure of the last attempt.
  public var failure: Failure
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
    key: String, attempts: Int, _ failure: Failure, run: String, time: String,
    retryAt: String? = nil, isQuarantined: Bool = false,
    isGone: Bool = false
  ) {
    self.key = key
    self.attempts = attempts
    self.failure = failure
    self.run = run
    self.time = time
    self.retryAt = retryAt
    self.isQuarantined = isQuarantined
    self.isGone = isGone
  }

  /// Cause of the failure; every failure has one.
  public var cause: FailureCause { failure.cause ?? .program }

  /// What is noted of a capture; `nil`: nothing has failed, or the note is damaged.
  public init?(of layout: OutputLayout) { self.init(OpenOutput(layout)) }

  init?(_ open: OpenOutput) {
    guard let record = NotesFile.read(TriageRecord.self, Self.fileName, of: open) else {
      return nil
    }
    self = record
  }
}

/// The keys of the failure stand beside the others.
extension TriageRecord: Codable {
  private enum Key: CodingKey {
    case schema, key, attempts, run, time, retryAt, isQuarantined, isGone, user
  }

  public init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: Key.self)
    failure = try Failure(from: decoder)
    guard try object.decode(Int.self, forKey: .schema) == 1, failure.cause != nil,
      failure.message != nil
    else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "no triage record of schema 1"))
    }
    key = try object.decode(String.self, forKey: .key)
    attempts = try object.decode(Int.self, forKey: .attempts)
    run = try object.decode(String.self, forKey: .run)
    time = try object.decode(String.self, forKey: .time)
    retryAt = try object.decodeIfPresent(String.self, forKey: .retryAt)
    isQuarantined = try object.decode(Bool.self, forKey: .isQuarantined)
    isGone = try object.decode(Bool.self, forKey: .isGone)
    user = try object.decodeIfPresent(String.self, forKey: .user)
  }

  public func encode(to encoder: any Encoder) throws {
    try failure.encode(to: encoder)
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(1, forKey: .schema)
    try object.encode(key, forKey: .key)
    try object.encode(attempts, forKey: .attempts)
    try object.encode(run, forKey: .run)
    try object.encode(time, forKey: .time)
    try object.encodeIfPresent(retryAt, forKey: .retryAt)
    try object.encode(isQuarantined, forKey: .isQuarantined)
    try object.encode(isGone, forKey: .isGone)
    try object.encodeIfPresent(user, forKey: .user)
  }
}

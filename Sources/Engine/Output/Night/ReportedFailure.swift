/// A failure of a capture in the report of the night, with where to read more.
public struct ReportedFailure: Sendable, Hashable {
  public var failure: Failure
  /// Relative to the output folder; `nil`: there is none.
  public var log: String?
  /// How often the capture has failed in a row.
  public var attempts: Int

  init(_ failure: Failure, log: String? = nil, attempts: Int = 1) {
    self.failure = failure
    self.log = log
    self.attempts = attempts
  }

  /// The failure's message, or that no reason was given.
  public var message: String { failure.message ?? Failure.noReason }
}

/// The keys of the failure stand beside the others. What is not known is `null`.
extension ReportedFailure: Codable {
  private enum Key: CodingKey {
    case stage, message, log, cause, detail, attempts
  }

  public init(from decoder: any Decoder) throws {
    failure = try Failure(from: decoder)
    let object = try decoder.container(keyedBy: Key.self)
    log = try object.decodeIfPresent(String.self, forKey: .log)
    attempts = try object.decode(Int.self, forKey: .attempts)
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(failure.stage, forKey: .stage)
    try object.encode(message, forKey: .message)
    try object.encode(log, forKey: .log)
    try object.encode(failure.cause, forKey: .cause)
    try object.encodeIfPresent(failure.detail, forKey: .detail)
    try object.encode(attempts, forKey: .attempts)
  }
}

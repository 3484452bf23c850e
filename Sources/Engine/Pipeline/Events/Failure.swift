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

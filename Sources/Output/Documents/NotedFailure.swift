import Pipeline

/// How the last attempt of a stage failed.
public struct NotedFailure: Hashable, Sendable, Codable {
  public var stage: String
  public var message: String
  /// UTC, ISO 8601.
  public var time: String
  /// Notes of earlier versions have none.
  public var cause: FailureCause?

  public init(stage: String, message: String, time: String, cause: FailureCause?) {
    self.stage = stage
    self.message = message
    self.time = time
    self.cause = cause
  }

  /// `nil` when the last attempt did not fail.
  public init?(_ stage: String, of layout: OutputLayout) {
    guard let note = FailureNote.read(stage, layout) else { return nil }
    self.init(stage: stage, message: note.message, time: note.time, cause: note.cause)
  }
}

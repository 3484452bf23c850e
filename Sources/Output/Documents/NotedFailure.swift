import Pipeline

/// How the last attempt of a stage failed.
public struct NotedFailure: Hashable, Sendable, Codable {
  public var stage: String
  public var message: String
  /// UTC, ISO 8601.
  public var time: String
  public var cause: FailureCause

  public init(stage: String, message: String, time: String, cause: FailureCause) {
    self.stage = stage
    self.message = message
    self.time = time
    self.cause = cause
  }

  /// `nil` when the last attempt did not fail.
  public init?(_ stage: String, of layout: OutputLayout) {
    guard let note = FailureNote.read(stage, layout) else { return nil }
    self.init(stage, note)
  }

  private init(_ stage: String, _ note: FailureNote) {
    self.init(stage: stage, message: note.message, time: note.time, cause: note.cause)
  }

  /// Those of `stages`, in their order. Cost: one look at a capture without any failure.
  public static func all(of stages: [String], in layout: OutputLayout) -> [NotedFailure] {
    let notes = FailureNote.read(stages, layout)
    return stages.compactMap { stage in notes[stage].map { NotedFailure(stage, $0) } }
  }
}

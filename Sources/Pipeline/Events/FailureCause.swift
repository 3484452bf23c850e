/// The cause of a failure, in categories that determine what can be done.
public enum FailureCause: String, Hashable, Codable, Sendable, CaseIterable {
  /// A stream cannot be read. Retrying does not help.
  case input
  /// A stage failed for another reason, crashed, or exceeded its time or memory.
  case program
  /// Disk full, device error, unreachable input or output, or a shortage of a resource. Retrying
  /// helps once the machine allows it.
  case machine

  /// The cause of a capture whose stages failed for several causes: one for which a later attempt
  /// may succeed has precedence.
  public static func deciding(_ causes: some Sequence<FailureCause>) -> FailureCause? {
    let all = Set(causes)
    return [machine, program, input].first(where: all.contains)
  }
}

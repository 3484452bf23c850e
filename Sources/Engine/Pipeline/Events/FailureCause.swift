/// The cause of a failure, in categories that determine what can be done.
public enum FailureCause: String, Hashable, Codable, Sendable, CaseIterable {
  /// A stream cannot be read. Retrying does not help.
  case input
  /// A stage failed for another reason, crashed, or exceeded its time or memory.
  case program
  /// A file or folder of the capture may not be read by the user that the program runs as. Retrying helps once its
  /// permissions change.
  case permission
  /// Disk full, device error, unreachable input or output, or a shortage of a resource. Retrying
  /// helps once the machine allows it.
  case machine

  /// The cause of a capture whose stages failed for several causes: one for which a later attempt
  /// may succeed has precedence.
  static func deciding(_ causes: some Sequence<FailureCause>) -> FailureCause? {
    let all = Set(causes)
    return [machine, program, permission, input].first(where: all.contains)
  }
}

/// Why something failed, as far as it decides what helps.
public enum FailureCause: String, Hashable, Codable, Sendable, CaseIterable {
  /// A stream that cannot be read: trying again cannot help.
  case input
  /// A stage failed for another reason, crashed, ran out of its time or of its memory.
  case program
  /// Disk full, a device error, input or output that cannot be reached, something that is short: it helps
  /// to try again when the machine allows.
  case machine

  /// The one that decides for a capture whose stages failed for several: what a later attempt may cure
  /// is tried again.
  public static func deciding(_ causes: some Sequence<FailureCause>) -> FailureCause? {
    let all = Set(causes)
    return [machine, program, input].first(where: all.contains)
  }
}

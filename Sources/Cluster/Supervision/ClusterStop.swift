import Runner

/// Why a run on a batch system ends before its captures have.
public enum ClusterStop: Sendable, Hashable {
  /// What was asked for will never be given: 78.
  case configuration(String)
  /// The batch system does not answer: 75. Elements are left at work.
  case unreachable(String, elements: Int)
  /// The terminal is gone: elements are left at work.
  case left

  /// Whether what was submitted goes on.
  var leavesElements: Bool {
    switch self {
    case .configuration: false
    case .unreachable, .left: true
    }
  }

  public var exit: Int {
    switch self {
    case .configuration: ExitStatus.badPipeline
    case .unreachable: ExitStatus.locked
    case .left: ExitStatus.terminated
    }
  }

  public var message: String {
    switch self {
    case .configuration(let why): why
    case .unreachable(let words, let elements):
      "the batch system does not answer"
        + (words.isEmpty ? "" : " (\(words))")
        + (elements > 0
          ? "; elements left at work: \(elements). Run the same command again to continue with them"
          : "; nothing was submitted: run the same command again when it does")
    case .left: "left; what was submitted continues. Run the same command again to continue with it"
    }
  }
}

/// Why a run stops before its captures have ended, shared by all parts of the run: each may give a reason, the first
/// one counts. The round and those who repeat it look at it.
final class ClusterStopper {
  private(set) var reason: ClusterStop?

  init(_ reason: ClusterStop? = nil) { self.reason = reason }

  func stop(_ why: ClusterStop) { reason = reason ?? why }

  /// The terminal is gone, which counts before any other reason.
  func leave() { reason = .left }
}

import Engine

/// Why a run on a batch system stops before all captures have ended.
public enum ClusterStop: Sendable, Hashable {
  /// The request or the site's configuration is wrong. Exit code 78.
  case configuration(String)
  /// The batch system does not answer. Exit code 75. Array tasks continue.
  case unreachable(String, elements: Int)
  /// The terminal is gone. Exit code 143. Array tasks continue.
  case left

  /// Whether submitted array tasks continue.
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

/// Why the run stops before all captures have ended, and whether the batch system answers; shared by all parts of the
/// run. The first reason counts.
final class ClusterStopper {
  private(set) var reason: ClusterStop?
  /// Since when the batch system has not answered. Only submissions and queries of states note its
  /// answers.
  private var silentSinceSeconds: Double?

  func stop(_ why: ClusterStop) { reason = reason ?? why }

  /// The terminal is gone. This overrides any other reason.
  func leave() { reason = .left }

  func noteSilence(atSeconds now: Double) { silentSinceSeconds = silentSinceSeconds ?? now }

  func noteAnswer() { silentSinceSeconds = nil }

  /// Seconds since the first missing answer; 0 if the last query was answered.
  func silenceSeconds(atSeconds now: Double) -> Double {
    silentSinceSeconds.map { now - $0 } ?? 0
  }
}

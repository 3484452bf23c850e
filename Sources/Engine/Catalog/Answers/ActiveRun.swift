import Core

/// Summary of an unfinished run on a batch system, for display.
public struct ActiveRun: Sendable, Hashable, Encodable {
  public var run: String
  public var isDetached = false
  public var elements = 0
  public var ended = 0
  public var running = 0
  public var waiting = 0
  /// Seconds since the run was created, if any array task waits. An upper limit of the longest
  /// wait; `nil` if unknown.
  public var longestWaitSeconds: Double?
  /// Why array tasks wait, as text.
  public var reason: String?
  /// All array tasks have ended and no supervisor or follow-up job is left, but the run was not
  /// concluded.
  public var isAbandoned = false

  private enum CodingKeys: String, CodingKey {
    case run, elements, ended, running, waiting, longestWaitSeconds, reason
    case isAbandoned = "abandoned"
  }

  public init(run: String) { self.run = run }

  /// One line: `run ID on the cluster: 3/12 elements ended, 4 running, 5 waiting (Priority: …)`.
  public var line: String {
    if isAbandoned {
      return "run \(run) on the cluster has ended and was not concluded: "
        + (isDetached ? "the next 'run' on this output does it" : "run the same command again")
    }
    var text = "run \(run) on the cluster: \(ended)/\(elements) elements ended, \(running) running"
    if waiting > 0 {
      text += ", \(waiting) waiting"
      let why = [
        longestWaitSeconds.map { "for up to \(DurationText.estimated($0))" }, reason,
      ].compactMap { $0 }
      if !why.isEmpty { text += " (\(why.joined(separator: "; ")))" }
    }
    return text
  }
}

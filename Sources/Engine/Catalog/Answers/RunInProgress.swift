/// A run on a cluster that is not over, as `status` tells of it.
public struct RunInProgress: Sendable, Hashable, Encodable {
  public var run: String
  public var elements: Int
  var ended: Int
  var running: Int
  var waiting: Int
  /// The longest time that an element has waited for its begin.
  var longestWaitSeconds: Double?
  /// Why elements wait, in words.
  var reason: String?
  /// Whether nothing of it is at work any more and it was not concluded.
  var abandoned: Bool
  /// All of it in one line.
  let line: String

  public init(
    run: String, elements: Int, ended: Int, running: Int, waiting: Int,
    longestWaitSeconds: Double?, reason: String?, abandoned: Bool, line: String
  ) {
    self.run = run
    self.elements = elements
    self.ended = ended
    self.running = running
    self.waiting = waiting
    self.longestWaitSeconds = longestWaitSeconds
    self.reason = reason
    self.abandoned = abandoned
    self.line = line
  }

  private enum CodingKeys: CodingKey {
    case run, elements, ended, running, waiting, longestWaitSeconds, reason, abandoned
  }
}

/// Failed jobs of a capture that wait to be started again: those whose failure may pass, and those for which threads,
/// processes, descriptors or memory were short. Pure.
struct RetryQueue {
  private var retries: JobRetries
  /// About eight seconds of patience, as long as nothing else of the capture runs that may give some back.
  private var short = JobRetries(allowed: 4)

  /// - Parameter allowed: attempts beyond the first that every job has.
  init(allowed: Int) { retries = JobRetries(allowed: allowed) }

  /// Whether nothing waits.
  var isEmpty: Bool { retries.isEmpty && short.isEmpty }

  /// Puts a failed job on the list, unless its failure cannot pass or all its attempts are used up.
  ///
  /// - Parameters:
  ///   - own: the attempts that the job's own stage allows.
  ///   - isAlone: whether no other job of the capture runs: then a shortage counts as an attempt.
  /// - Returns: whether it will be started again.
  mutating func add(
    _ name: String, _ verdict: FailureVerdict, own: Int, isAlone: Bool, atSeconds now: Double
  ) -> Bool {
    guard verdict.isShortage else {
      return verdict.mayPass && retries.again(name, own: own, atSeconds: now) != nil
    }
    if isAlone { return short.again(name, own: 0, atSeconds: now) != nil }
    short.hold(name, atSeconds: now)
    return true
  }

  /// Takes those off the list whose time has come.
  mutating func takeDue(atSeconds now: Double) -> [String] {
    retries.takeDue(atSeconds: now) + short.takeDue(atSeconds: now)
  }

  /// Takes all off the list.
  mutating func takeAll() -> [String] { retries.takeAll() + short.takeAll() }

  /// How long until the next one is due; `nil` when none waits.
  func secondsToNext(atSeconds now: Double) -> Double? {
    [retries, short].compactMap { $0.secondsToNext(atSeconds: now) }.min()
  }
}

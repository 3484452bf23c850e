/// Which failed jobs are tried again, how often and when. Pure.
///
/// Each attempt waits twice as long as the one before it: what was short or did not answer has time to
/// come back, and nothing is asked without pause.
struct JobRetries {
  /// The first wait, and the longest.
  static let firstSeconds = 0.5
  static let mostSeconds = 30.0

  /// Attempts beyond the first that every job has.
  let allowed: Int
  /// Attempts that failed, by job.
  private(set) var failures: [String: Int] = [:]
  /// When each waiting job is to start, on the monotonic clock.
  private(set) var due: [String: Double] = [:]

  /// Whether nothing waits.
  var isEmpty: Bool { due.isEmpty }

  /// Takes note of a failure that may pass, and puts the job on the list unless all its attempts are
  /// used up.
  ///
  /// - Parameter own: the attempts that the job's own stage allows; the larger number counts.
  /// - Returns: how many seconds from now it will start; `nil`: it has failed for good.
  mutating func again(_ name: String, own: Int, atSeconds now: Double) -> Double? {
    failures[name, default: 0] += 1
    let count = failures[name] ?? 1
    guard count <= max(own, allowed) else { return nil }
    // More doublings than that are beyond the longest wait.
    let seconds = min(Self.firstSeconds * Double(1 << min(count - 1, 16)), Self.mostSeconds)
    due[name] = now + seconds
    return seconds
  }

  /// Puts a job on the list without counting a failure: it waits for what others of the capture hold.
  mutating func hold(_ name: String, atSeconds now: Double) { due[name] = now + Self.firstSeconds }

  /// Takes those off the list whose time has come, in alphabetical order.
  mutating func takeDue(atSeconds now: Double) -> [String] {
    let ready = due.filter { $0.value <= now }.map(\.key).sorted()
    for name in ready { due[name] = nil }
    return ready
  }

  /// Takes all off the list.
  mutating func takeAll() -> [String] {
    defer { due = [:] }
    return due.keys.sorted()
  }

  /// How long until the next one is due; `nil` when none waits.
  func secondsToNext(atSeconds now: Double) -> Double? {
    due.values.min().map { max(0, $0 - now) }
  }
}

/// Failed jobs of a capture that wait to be started again: those whose failure may pass, and those for which threads,
/// processes, descriptors or memory were short. Pure.
struct RetryQueue {
  private var retries: JobRetries
  /// About eight seconds of patience, as long as nothing else of the capture runs that may give some back.
  private var short = JobRetries(allowed: 4)
  /// Jobs for which something was short before.
  private var wereShort: Set<String> = []

  /// - Parameter allowed: attempts beyond the first that every job has.
  init(allowed: Int) { retries = JobRetries(allowed: allowed) }

  /// Whether nothing waits.
  var isEmpty: Bool { retries.isEmpty && short.isEmpty }

  /// Puts a failed job on the list, unless its failure cannot pass or all its attempts are used up.
  ///
  /// - Parameters:
  ///   - own: the attempts that the job's own stage allows.
  ///   - beside: other jobs of the capture that run. Where none of them could give something back, which those cannot
  ///     that were short themselves, a shortage counts as an attempt.
  /// - Returns: whether it will be started again.
  mutating func add(
    _ name: String, _ failure: Failure, own: Int, beside others: some Sequence<String>,
    atSeconds now: Double
  ) -> Bool {
    guard failure.isShortage else {
      return failure.mayPass && retries.again(name, own: own, atSeconds: now) != nil
    }
    wereShort.insert(name)
    if wereShort.isSuperset(of: others) { return short.again(name, own: 0, atSeconds: now) != nil }
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

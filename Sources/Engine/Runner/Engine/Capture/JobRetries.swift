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
  private var failures: [String: Int] = [:]
  /// When each waiting job is to start, on the monotonic clock.
  private var due: [String: Double] = [:]

  init(allowed: Int) {
    self.allowed = allowed
  }

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

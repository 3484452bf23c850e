/// How a watcher decides.
public struct WatchSettings: Sendable, Hashable {
  /// How long names, sizes, times and inodes must stay the same.
  public var settleSeconds = 60.0
  /// How often the whole of STAGING is looked at.
  public var pollSeconds = 30.0
  /// How long a capture that lacks files is waited for.
  public var patienceSeconds = 6 * 3600.0
  /// How long an upload may stand still before it needs a person.
  public var uploadTimeoutSeconds = 3600.0
  /// Failed attempts with cause `program` before a capture is quarantined.
  public var attempts = 3
  /// After the first failure; doubles up to `longestPauseSeconds`.
  public var retryAfterSeconds = 900.0

  /// How many captures one run is given; then the next one begins.
  public var mostInRun = 500

  static let longestPauseSeconds = 86_400.0

  public init() {}

  /// The pause after the failed attempt of this number, from 1 on.
  func pauseSeconds(afterAttempt attempt: Int) -> Double {
    // 2^20 seconds are beyond the longest pause, whatever it begins with.
    let factor = Double(1 << min(20, max(0, attempt - 1)))
    return min(Self.longestPauseSeconds, retryAfterSeconds * factor)
  }

  /// The pause after trouble of the machine, which may be over at the next look.
  func machinePauseSeconds(afterTry attempt: Int) -> Double {
    let factor = Double(1 << min(20, max(0, attempt - 1)))
    return min(retryAfterSeconds, max(1, pollSeconds) * factor)
  }
}

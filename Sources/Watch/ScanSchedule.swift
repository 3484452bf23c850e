import Engine

/// When STAGING is scanned. Pure: the watcher's loop tells it the time on the monotonic clock, in seconds.
///
/// A scan is due every poll interval, earlier after a notice or when time alone changes the state of a capture. Scans
/// never take more than a twentieth of the time. With `--once` it also decides when enough was seen.
struct ScanSchedule {
  private let settings: WatchSettings
  private let isOnce: Bool
  private var lastSeconds = -Double.infinity
  private var tookSeconds = 0.0
  /// Whether something in STAGING, in the output or in the settings has changed since the last scan began.
  private var isNoticed = true
  /// When `--once` has waited long enough for what it saw first.
  private var onceEndsSeconds: Double?
  /// Whether `--once` takes up nothing more: no scan is due any more.
  private(set) var isFrozen = false

  init(_ settings: WatchSettings, isOnce: Bool) {
    self.settings = settings
    self.isOnce = isOnce
  }

  /// Scans cost what they cost: never more than a twentieth of the time.
  private var gapSeconds: Double { min(settings.pollSeconds, max(0.2, 20 * tookSeconds)) }

  /// Something has changed: the next scan is due as soon as the pause after the last one allows.
  mutating func noteChange() { isNoticed = true }

  /// - Parameter changeSeconds: when time alone changes something (`changeSeconds(of:)`); asked only if it matters.
  func isDue(atSeconds now: Double, changeSeconds: () -> Double?) -> Bool {
    if isFrozen { return false }
    let since = now - lastSeconds
    if since >= settings.pollSeconds { return true }
    guard since >= gapSeconds else { return false }
    return isNoticed || changeSeconds().map { now >= $0 } ?? false
  }

  /// When time alone changes the state of a capture; `nil`: never. Cost: one pass over all entries.
  func changeSeconds(of entries: some Sequence<StagingEntry>) -> Double? {
    var due = onceEndsSeconds ?? .infinity
    for entry in entries {
      switch entry.phase {
      case .moving:
        due = min(
          due,
          entry.isUploading
            ? entry.sinceSeconds + settings.uploadTimeoutSeconds
            : entry.restsFromSeconds + settings.settleSeconds)
      case .incomplete: due = min(due, entry.sinceSeconds + settings.patienceSeconds)
      case .failed(let trouble): due = min(due, trouble.retryAtSeconds ?? .infinity)
      default: continue
      }
    }
    return due == .infinity ? nil : due
  }

  /// Seconds from `now` until the next scan is due, at most one poll interval; may be negative.
  func secondsUntilDue(atSeconds now: Double, changeSeconds: Double?) -> Double {
    var seconds = lastSeconds + settings.pollSeconds - now
    if let changeSeconds {
      seconds = min(seconds, max(changeSeconds, lastSeconds + gapSeconds) - now)
    }
    if isNoticed { seconds = min(seconds, lastSeconds + gapSeconds - now) }
    return seconds
  }

  /// A scan begins: what is noticed from now on asks for another one.
  mutating func begin() { isNoticed = false }

  /// The schedule after a scan that began at `start` and ended at `now`.
  ///
  /// - Parameter entries: how captures stand after it.
  func ended(
    startedSeconds start: Double, atSeconds now: Double, entries: some Sequence<StagingEntry>
  ) -> ScanSchedule {
    var next = self
    next.lastSeconds = start
    next.tookSeconds = now - start
    if isOnce { next.freezeIfSeen(start, entries) }
    return next
  }

  /// `--once` waits one settling time for what its first scan saw moving, and no longer.
  private mutating func freezeIfSeen(_ start: Double, _ entries: some Sequence<StagingEntry>) {
    let firstSeconds = onceEndsSeconds.map { $0 - settings.settleSeconds } ?? start
    let isMoving = entries.contains { entry in
      guard case .moving = entry.phase else { return false }
      return !entry.isUploading && entry.restsFromSeconds <= firstSeconds
    }
    let ends = onceEndsSeconds ?? start + settings.settleSeconds
    onceEndsSeconds = ends
    if !isMoving || start >= ends + settings.settleSeconds { isFrozen = true }
  }
}

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
  /// Bytes of the output's disk that stay free; `nil`: 1 GiB or 2 %, whichever is less.
  public var reserveBytes: Int64?

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

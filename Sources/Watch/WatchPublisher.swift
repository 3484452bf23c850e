import Core
import Engine
import FoundationEssentials
import Logging
import SystemPackage

/// Writes how everything stands for those who read it from outside: `watch.json`, `looks.json`, the service manager's
/// status and the metrics. The watcher's loop calls it after each step.
///
/// Owns what was last written: a file is replaced when it changes, `watch.json` at least once a minute.
final class WatchPublisher {
  /// The last scan.
  struct Scan {
    /// When it ended, UTC, ISO 8601.
    var text: String
    /// The time in seconds since 1970.
    var wallSeconds: Double
  }

  private let setup: WatchSetup
  private let state: WatchState
  private let clock: RunClock
  private let writes: WriteReporter
  private let service: SystemdNotifier
  private let metrics: MetricsPublisher
  /// When the watcher began, UTC, ISO 8601.
  private let started: String
  private let outputCounts: OutputCounts
  /// Captures that wait and their states, as last compared.
  private var toldStates: [String] = []
  private var published: (record: WatchRecord, seconds: Double)?
  /// What was told of the time at which everything will be done.
  private(set) var forecast: NightForecast?
  private var forecaster: NightForecaster
  private var publishedLooks: FirstSeenRecords?

  private static let longestSilenceSeconds = 60.0

  init(
    _ setup: WatchSetup, _ state: WatchState, _ writes: WriteReporter, _ service: SystemdNotifier,
    clock: RunClock, started: String, outputCounts: OutputCounts
  ) {
    self.setup = setup
    self.state = state
    self.writes = writes
    self.service = service
    self.clock = clock
    self.started = started
    self.outputCounts = outputCounts
    forecaster = NightForecaster(setup)
    metrics = MetricsPublisher(setup: setup, writes: writes, clock: clock)
  }

  /// Told at once, not after the first scan: a place that can never be written to is a slip of the hand.
  func checkMetrics() { metrics.check() }

  /// - Parameters:
  ///   - scan: before the first one nothing is written: what was known stays as it was.
  ///   - pauses: why nothing new is started, and when that was so.
  ///   - isLast: whether the watcher ends.
  func publish(
    _ scan: Scan?, unrecognized: [RunReport.Unrecognized], pauses: PauseTracker, isLast: Bool
  ) {
    guard let scan else { return }
    let nowSeconds = clock.monotonicSeconds()
    let dayAgo = MomentText.utc(Date.now.addingTimeInterval(-86_400))
    let summary = state.with { [outputCounts] state in
      state.intake.forgetDisappeared(before: dayAgo)
      return WatchSummary(state, nowSeconds: nowSeconds, outputCounts: outputCounts)
    }
    let forecast = forecaster.forecast(
      summary, nowSeconds: nowSeconds, now: FileStamp.nowNanoseconds())
    self.forecast = forecast
    var record = WatchRecord(
      staging: setup.staging.text, started: started, lastLook: scan.text, waiting: summary.waiting,
      unrecognized: unrecognized)
    record.stagingTrouble = summary.stagingTrouble
    record.holdsBecause = pauses.text
    record.known = summary.known
    record.disappeared = summary.disappeared.isEmpty ? nil : summary.disappeared
    record.disappearedTotal = summary.disappearedTotal > 0 ? summary.disappearedTotal : nil
    record.lastDoneSeconds = summary.lastDoneSeconds
    record.pauses = pauses.periods
    record.costs = summary.costs.samples
    record.forecast = forecast
    record.tally = summary.tally
    record.renewsPageSeconds = setup.renewsPageSeconds
    record.reserveBytes = setup.settings.reserveBytes
    if isLast { record.ended = clock.wallText() }
    noteStates(record)
    if isDue(record) || isLast { write(record) }
    service.status(summary.sentence(unrecognized: unrecognized.count, hold: pauses.text))
    // Before the output was read the file of the watcher before this one stands.
    guard outputCounts.isReady else { return }
    metrics.publish(
      summary, forecast, unrecognized: unrecognized.count, scanWallSeconds: scan.wallSeconds)
  }

  /// Lets the page be written anew when captures that wait are in other states, which may come from time alone.
  private func noteStates(_ record: WatchRecord) {
    let states = record.waiting.map { "\($0.id) \($0.state) \($0.missing)" }
    guard states != toldStates else { return }
    toldStates = states
    state.with { $0.hasChanged = true }
  }

  /// Whether it says something new, or nothing was written for a while. Another time of the last scan is nothing new.
  private func isDue(_ record: WatchRecord) -> Bool {
    guard let published else { return true }
    var comparable = record
    comparable.lastLook = published.record.lastLook
    return clock.monotonicSeconds() - published.seconds >= Self.longestSilenceSeconds
      || published.record != comparable
  }

  private func write(_ record: WatchRecord) {
    if let bytes = try? JSONText.pretty(record), writes.write(bytes, as: OutputNames.watch) {
      published = (record, clock.monotonicSeconds())
    }
    // STAGING has not been seen yet: what the last watcher noted of it stands.
    let looks = state.with {
      $0.intake.previous == nil ? FirstSeenRecords($0.intake.entries.values) : nil
    }
    if let looks, looks != publishedLooks, let bytes = try? JSONText.canonical(looks),
      writes.write(bytes, as: OutputNames.firstSeen)
    {
      publishedLooks = looks
    }
  }
}

/// Writes the file of `--metrics`; without that option it does nothing. `WatchPublisher` calls it.
struct MetricsPublisher {
  let setup: WatchSetup
  let writes: WriteReporter
  let clock: RunClock

  /// Name by which trouble with the file is told.
  private static let fileName = "--metrics"

  /// Tells when the file can never be written to.
  func check() {
    guard let file = setup.metrics else { return }
    do throws(FileError) {
      try MetricsText.check(file)
    } catch {
      writes.note(.metrics, Self.fileName, "\(error)")
    }
  }

  /// - Parameter scanWallSeconds: when the last scan ended, seconds since 1970.
  func publish(
    _ summary: WatchSummary, _ forecast: NightForecast, unrecognized: Int, scanWallSeconds: Double
  ) {
    guard let file = setup.metrics else { return }
    var metrics = NightMetrics(lookTimestampSeconds: scanWallSeconds, version: setup.version)
    (metrics.totals, metrics.tally, metrics.forecast) = (summary.totals, summary.tally, forecast)
    metrics.totals.unrecognized = unrecognized
    metrics.disappearedTotal = summary.disappearedTotal
    metrics.doneTimestampSeconds = summary.lastDoneSeconds
    metrics.queueOldestSeconds =
      summary.oldestSince.map { max(0, clock.monotonicSeconds() - $0) } ?? 0
    metrics.hold = summary.hold
    metrics.isStagingMounted = summary.stagingTrouble == nil
    if let since = summary.longestWaiting.flatMap(UTCText.nanoseconds) {
      metrics.oldestWaitingSeconds = max(0, Double(FileStamp.nowNanoseconds() - since) / 1e9)
    }
    metrics.outputFreeBytes = FreeSpaceRule.free(of: setup.output)?.bytes ?? 0
    for kind in WriteFailures.Kind.allCases {
      metrics.writeFailuresTotal[kind] = writes.count(kind)
    }
    do {
      try writes.reserve.writing { try MetricsText(metrics).write(to: file) }
      writes.note(.metrics, Self.fileName, nil)
    } catch {
      writes.note(.metrics, Self.fileName, "\(error)")
    }
  }
}

/// Makes the forecast of a watcher from what it knows. What it says changes when captures come, begin or end, else
/// every ten seconds.
struct NightForecaster {
  private let window: TimeWindow?
  private let deadline: Deadline?
  private var last: (key: Key, outcome: CompletionForecast.Outcome, madeSeconds: Double)?

  /// Values whose change makes a new forecast at once.
  private struct Key: Hashable {
    var waiting: Int
    var running: Int
    var bytes: Int64
    var hold: WatchState.PauseReason?
  }

  private static let longestSeconds = 10.0

  init(_ setup: WatchSetup) {
    window = setup.window
    deadline = setup.due.map { Deadline(time: $0) }
  }

  /// - Parameters:
  ///   - nowSeconds: on the monotonic clock.
  ///   - now: nanoseconds since 1970.
  mutating func forecast(_ summary: WatchSummary, nowSeconds: Double, now: Int64) -> NightForecast {
    let items = summary.remaining
    let key = Key(
      waiting: items.count { $0.secondsAtWork == nil },
      running: items.count { $0.secondsAtWork != nil },
      bytes: items.reduce(0) { $0 &+ $1.bytes }, hold: summary.hold)
    if last?.key != key || nowSeconds - (last?.madeSeconds ?? 0) >= Self.longestSeconds {
      last = (key, outcome(summary, key, now), nowSeconds)
    }
    var forecast = NightForecast(captures: items.count, bytes: key.bytes)
    var doneAt: Int64?
    switch last?.outcome {
    case .done(let seconds, let isAbout)?:
      let passed = nowSeconds - (last?.madeSeconds ?? nowSeconds)
      // Never in the past, to the next whole minute.
      let left = min(max(0, seconds - passed), 3.15e9)
      let at = (now + Int64(left * 1e9)) / Self.minute * Self.minute + Self.minute
      doneAt = at
      forecast.doneAt = UTCText.text(nanoseconds: at)
      forecast.isAbout = isAbout
    case .unknown(let reason)?: forecast.reason = reason
    case .nothingLeft?, nil: break
    }
    if let deadline {
      forecast.due = UTCText.text(nanoseconds: deadline.due(ofNightAt: now))
      forecast.dueMissed = deadline.isMissed(
        at: now, remaining: items.count,
        oldestSince: summary.longestRemaining.flatMap(UTCText.nanoseconds), doneAt: doneAt)
    }
    return forecast
  }

  private static let minute: Int64 = 60_000_000_000

  private func outcome(
    _ summary: WatchSummary, _ key: Key, _ now: Int64
  ) -> CompletionForecast.Outcome {
    var forecast = CompletionForecast(
      items: summary.remaining, costs: summary.costs.samples, pipeline: summary.pipeline)
    // As many as are at work while others wait.
    if key.waiting > 0, key.running > 0 { forecast.workers = key.running }
    forecast.isHeld = summary.hold != nil && summary.hold != .window
    if let window {
      forecast.secondsUntilOpen = { seconds in
        window.secondsUntilOpen(atNanoseconds: now &+ Int64(min(seconds, 3.15e9) * 1e9))
      }
    }
    return forecast.outcome()
  }
}

/// Writes the watcher's own files of the output folder, and logs which of its files cannot be written: when that is
/// news, and again and again while it lasts (`WriteFailures`). Every part of the watcher that writes tells it how that
/// went; all of them on the watcher's thread.
final class WriteReporter {
  private let output: FilePath
  private let clock: RunClock
  private let log: Logger
  private var failures = WriteFailures()
  /// Space for what is written on a full disk.
  let reserve: DiskReserve

  init(output: FilePath, clock: RunClock, log: Logger) {
    reserve = DiskReserve(output: output)
    self.output = output
    self.clock = clock
    self.log = log
  }

  /// What became of something that was to be written.
  ///
  /// - Parameter problem: why it could not be; `nil`: it was written.
  func note(_ kind: WriteFailures.Kind, _ file: String, _ problem: String?) {
    if let problem {
      let text = failures.failed(kind, file, problem, nowSeconds: clock.monotonicSeconds())
      if let text { log.error("\(text)") }
    } else if let text = failures.succeeded(kind, file) {
      log.notice("\(text)")
    }
  }

  /// Replaces a file of the output's notes. Whether it was written.
  func write(_ bytes: [UInt8], as name: String) -> Bool {
    do {
      try reserve.writing { try NotesFile.write(bytes, name, ofOutput: output) }
      note(.notes, name, nil)
      return true
    } catch {
      note(.notes, name, "\(error)")
      return false
    }
  }

  /// Failures of a kind since the start.
  func count(_ kind: WriteFailures.Kind) -> Int { failures.count(kind) }

  /// Whether something could not be written when it was last tried.
  var areFailing: Bool { failures.areFailing }
}

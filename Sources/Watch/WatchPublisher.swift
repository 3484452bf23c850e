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
  /// When the last scan ended: UTC, ISO 8601, and in seconds since 1970.
  typealias Scan = (text: String, wallSeconds: Double)

  private let state: WatchState
  private let writes: WriteReporter
  private let service: SystemdNotifier
  /// Captures that wait and their states, as last compared.
  private var toldStates: [String] = []
  private var published: (record: WatchRecord, seconds: Double)?
  /// What was told of the time at which everything will be done.
  private(set) var forecast: NightForecast?
  private var forecaster: NightForecaster
  private var publishedLooks: FirstSeenRecords?

  private static let longestSilenceSeconds = 60.0
  /// Name by which trouble with the file of metrics is told.
  private static let metricsName = "--metrics"

  init(_ state: WatchState, _ writes: WriteReporter, _ service: SystemdNotifier) {
    self.state = state
    self.writes = writes
    self.service = service
    forecaster = NightForecaster(state.setup)
  }

  /// Told at once, not after the first scan: a place that can never be written to is a slip of the hand.
  func checkMetrics() {
    guard let file = state.setup.metrics else { return }
    do throws(FileError) {
      try NightMetrics.check(file)
    } catch {
      writes.note(.metrics, Self.metricsName, "\(error)")
    }
  }

  /// - Parameters:
  ///   - scan: before the first one nothing is written: what was known stays as it was.
  ///   - pauses: why nothing new is started, and when that was so.
  ///   - isLast: whether the watcher ends.
  func publish(
    _ scan: Scan?, unrecognized: [RunReport.Unrecognized], pauses: PauseTracker, isLast: Bool
  ) {
    guard let scan else { return }
    let setup = state.setup
    let nowSeconds = state.clock.monotonicSeconds()
    let dayAgo = MomentText.utc(Date.now.addingTimeInterval(-86_400))
    var record = WatchRecord(
      staging: setup.staging.text, started: state.started, lastLook: scan.text,
      unrecognized: unrecognized)
    let summary = state.with { [record, outputCounts = state.outputCounts] state in
      state.intake.forgetDisappeared(before: dayAgo)
      return WatchSummary(state, record, nowSeconds: nowSeconds, outputCounts: outputCounts)
    }
    let forecast = forecaster.forecast(
      summary, nowSeconds: nowSeconds, now: FileStamp.nowNanoseconds())
    self.forecast = forecast
    record = summary.record
    record.holdsBecause = pauses.text
    record.holds = pauses.periods
    record.forecast = forecast
    record.renewsPageSeconds = setup.renewsPageSeconds
    record.reserveBytes = setup.settings.reserveBytes
    if isLast { record.ended = state.clock.wallText() }
    noteStates(record)
    if isDue(record) || isLast { write(record) }
    service.status(summary.sentence(unrecognized: unrecognized.count, hold: pauses.text))
    // Before the output was read the file of the watcher before this one stands.
    guard state.outputCounts.isReady, let file = setup.metrics else { return }
    var metrics = NightMetrics(lookTimestampSeconds: scan.wallSeconds, version: setup.version)
    (metrics.totals, metrics.forecast) = (summary.totals, forecast)
    metrics.tally = record.tally ?? metrics.tally
    metrics.totals.unrecognized = unrecognized.count
    metrics.disappearedTotal = record.disappearedTotal ?? 0
    metrics.doneTimestampSeconds = record.lastDoneSeconds
    metrics.queueOldestSeconds = summary.oldestSince.map { max(0, nowSeconds - $0) } ?? 0
    metrics.hold = summary.hold
    metrics.isStagingMounted = record.stagingTrouble == nil
    if let since = summary.longestWaiting.flatMap(UTCText.nanoseconds) {
      metrics.oldestWaitingSeconds = max(0, Double(FileStamp.nowNanoseconds() - since) / 1e9)
    }
    metrics.outputFreeBytes = setup.free?.bytes ?? 0
    for kind in WriteFailures.Kind.allCases {
      metrics.writeFailuresTotal[kind] = writes.failures.count(kind)
    }
    do {
      try writes.reserve.writing { try metrics.write(to: file) }
      writes.note(.metrics, Self.metricsName, nil)
    } catch {
      writes.note(.metrics, Self.metricsName, "\(error)")
    }
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
    return state.clock.monotonicSeconds() - published.seconds >= Self.longestSilenceSeconds
      || published.record != comparable
  }

  private func write(_ record: WatchRecord) {
    if let bytes = try? JSONText.pretty(record), writes.write(bytes, as: OutputNames.watch) {
      published = (record, state.clock.monotonicSeconds())
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

/// Makes the forecast of a watcher from what it knows. What it says changes when captures come, begin or end, else
/// every ten seconds.
struct NightForecaster {
  private let window: TimeWindow?
  private let deadline: Deadline?
  private var last: (key: Key, outcome: CompletionForecast.Outcome, madeSeconds: Double)?

  /// Values whose change makes a new forecast at once.
  private typealias Key = (waiting: Int, running: Int, bytes: Int64, hold: WatchState.PauseReason?)

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
    let key: Key = (
      waiting: items.count { $0.secondsAtWork == nil },
      running: items.count { $0.secondsAtWork != nil },
      bytes: items.reduce(0) { $0 &+ $1.bytes }, hold: summary.hold
    )
    let isNew = last.map { $0.key != key || nowSeconds - $0.madeSeconds >= Self.longestSeconds }
    if isNew != false {
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
      items: summary.remaining, costs: summary.record.costs ?? [], pipeline: summary.pipeline)
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
  private let state: WatchState
  private(set) var failures = WriteFailures()
  /// Space for what is written on a full disk.
  let reserve: DiskReserve

  init(_ state: WatchState) {
    self.state = state
    reserve = DiskReserve(output: state.setup.output)
  }

  /// What became of something that was to be written.
  ///
  /// - Parameter problem: why it could not be; `nil`: it was written.
  func note(_ kind: WriteFailures.Kind, _ file: String, _ problem: String?) {
    if let problem {
      let text = failures.failed(kind, file, problem, nowSeconds: state.clock.monotonicSeconds())
      if let text { state.log.error("\(text)") }
    } else if let text = failures.succeeded(kind, file) {
      state.log.notice("\(text)")
    }
  }

  /// Replaces a file of the output's notes. Whether it was written.
  func write(_ bytes: [UInt8], as name: String) -> Bool {
    do {
      try reserve.writing { try NotesFile.write(bytes, name, ofOutput: state.setup.output) }
      note(.notes, name, nil)
      return true
    } catch {
      note(.notes, name, "\(error)")
      return false
    }
  }
}

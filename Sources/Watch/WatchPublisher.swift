import FoundationEssentials
import Engine
import Core

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
    metrics = MetricsPublisher(setup, writes, clock: clock)
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
    record.renamed = summary.renamed.isEmpty ? nil : summary.renamed
    record.lastDoneSeconds = summary.tally.lastDoneSeconds
    record.pauses = pauses.periods
    record.costs = summary.costs.samples
    record.forecast = forecast
    record.tally = summary.tally.record
    record.renewsPageSeconds = setup.renewsPageSeconds
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
    if let bytes = try? JSONText.pretty(record), writes.write(bytes, as: WatchRecord.fileName) {
      published = (record, clock.monotonicSeconds())
    }
    // STAGING has not been seen yet: what the last watcher noted of it stands.
    let looks = state.with {
      $0.intake.previous == nil ? FirstSeenRecords($0.intake.entries.values) : nil
    }
    if let looks, looks != publishedLooks, let bytes = try? JSONText.canonical(looks),
      writes.write(bytes, as: FirstSeenRecords.fileName)
    {
      publishedLooks = looks
    }
  }
}

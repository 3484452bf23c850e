import Engine
import Core

/// Writes the file of `--metrics`; without that option it does nothing. `WatchPublisher` calls it.
struct MetricsPublisher {
  private let setup: WatchSetup
  private let writes: WriteReporter
  private let clock: RunClock

  /// Name by which trouble with the file is told.
  private static let fileName = "--metrics"

  init(_ setup: WatchSetup, _ writes: WriteReporter, clock: RunClock) {
    self.setup = setup
    self.writes = writes
    self.clock = clock
  }

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
    metrics.captures = summary.states
    metrics.needsPerson = summary.needed
    metrics.unrecognized = unrecognized
    metrics.disappearedTotal = summary.disappearedTotal
    metrics.doneTimestampSeconds = summary.tally.lastDoneSeconds
    metrics.queueOldestSeconds =
      summary.oldestSince.map { max(0, clock.monotonicSeconds() - $0) } ?? 0
    metrics.failuresTotal = summary.tally.failures
    metrics.framesTotal = summary.tally.frames
    metrics.bytesWrittenTotal = summary.tally.bytesWritten
    metrics.cpuSecondsTotal = summary.tally.cpuSeconds
    metrics.workersStuckTotal = summary.tally.workersStuck
    metrics.hold = summary.hold
    metrics.isStagingMounted = summary.stagingTrouble == nil
    if let since = summary.longestWaiting.flatMap(UTCText.nanoseconds) {
      metrics.oldestWaitingSeconds = max(0, Double(FileStamp.nowNanoseconds() - since) / 1e9)
    }
    metrics.remainingCaptures = forecast.captures
    metrics.remainingBytes = forecast.bytes
    metrics.forecastDoneTimestampSeconds = forecast.doneAt.flatMap(UTCText.nanoseconds).map {
      Double($0) / 1e9
    }
    metrics.isDueMissed = forecast.dueMissed
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

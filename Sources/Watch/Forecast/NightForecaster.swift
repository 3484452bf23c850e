import Engine
import Core

/// Makes the forecast of a watcher from what it knows. What it says changes when captures come, begin or end, else
/// every ten seconds.
struct NightForecaster {
  private let window: TimeWindow?
  private let deadline: Deadline?
  private var last: (key: Key, outcome: CompletionForecast.Outcome, madeSeconds: Double)?

  /// What makes another forecast at once.
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

import Logging
import Output
import Pipeline
import Reports

/// What of a run is told in the log of a watcher: captures as they start and end, and trouble. The journal
/// of the run has all of it.
struct WatchLog: EventSink {
  let log: EventLog

  func send(_ event: RunEvent) {
    switch event.kind {
    case .captureStarted, .captureFinished, .retried, .stopping, .waiting, .locksNotShared:
      log.send(event)
    case .finished where event.outcome == .failed: log.send(event)
    default: break
    }
  }
}

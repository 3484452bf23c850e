import Captures
import Engine
import Synchronization

/// What one run of a watcher is given, and hears of it: by the pipeline that the run began with.
///
/// A run takes no more once it has been given all that one may hold, or was closed; the next one begins then, beside
/// it, and does not wait for what is still at work.
final class WatchSupply: TargetSupply, ReportSink {
  let run: String
  let work: WatchWork
  private let watchState: WatchState
  private let most: Int
  private let state = Mutex((given: 0, isClosed: false, open: Set<CaptureLocation>()))

  /// - Parameter most: how many captures it takes: a run that went on for days would hold a report of every one in
  ///   memory.
  init(_ watchState: WatchState, run: String, work: WatchWork, most: Int) {
    self.watchState = watchState
    self.run = run
    self.work = work
    self.most = most
  }

  /// Whether it may be given more.
  var isOpen: Bool { state.withLock { !$0.isClosed && $0.given < most } }

  /// Closes the supply: the run takes no more.
  func close() { state.withLock { $0.isClosed = true } }

  func next(_ wanted: Int) -> [CaptureTarget] {
    let available = state.withLock { $0.isClosed ? 0 : min(wanted, most - $0.given) }
    guard available > 0 else { return [] }
    return watchState.take(available) { location in
      state.withLock { state in
        state.given += 1
        state.open.insert(location)
      }
    }
  }

  /// A worker that did not get on, and whose capture is tried once more, is in no report.
  func send(_ event: RunEvent) {
    guard event.kind == .waiting, event.message?.hasPrefix(Supervisor.triedOnceMore) == true
    else { return }
    watchState.with { $0.tally.workersStuck += 1 }
  }

  /// How a capture has ended.
  func send(_ outcome: CaptureOutcome) {
    if let location = watchState.end(outcome, run: run, work: work) {
      state.withLock { _ = $0.open.remove(location) }
    }
  }

  /// Takes the captures that the run was given and has not come to.
  func takeRest() -> [CaptureLocation] {
    state.withLock { state in
      defer { state.open = [] }
      return Array(state.open)
    }
  }
}

import Output
import Runner
import Synchronization

/// A run of a watcher, on a thread of its own.
final class RunInProgress: Sendable {
  let journal: RunJournal
  let supply: WatchSupply
  private let ended = Mutex<RunReport?>(nil)

  init(_ journal: RunJournal, _ supply: WatchSupply) {
    self.journal = journal
    self.supply = supply
  }

  func end(_ report: RunReport) { ended.withLock { $0 = report } }

  /// Once it is over.
  var report: RunReport? { ended.withLock { $0 } }
}

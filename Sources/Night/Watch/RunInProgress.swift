import Runner
import Synchronization

/// A run of a watcher, on a thread of its own.
final class RunInProgress: Sendable {
  let journal: RunJournal
  private let ended = Mutex<RunReport?>(nil)

  init(_ journal: RunJournal) {
    self.journal = journal
  }

  func end(_ report: RunReport) { ended.withLock { $0 = report } }

  /// Once it is over.
  var report: RunReport? { ended.withLock { $0 } }
}

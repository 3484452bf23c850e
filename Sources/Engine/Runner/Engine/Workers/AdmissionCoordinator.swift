import Synchronization

/// One admission for runs that go on side by side: a run of a watcher that has been given all that it takes, and the
/// next one, which begins while workers of the first are still at work. Together they keep what one may use.
public final class AdmissionCoordinator: Sendable {
  private let state: Mutex<(admission: Admission, next: Int)>
  let cores: Int
  let memoryBytes: Int64

  init(_ admission: Admission) {
    cores = admission.cores
    memoryBytes = admission.memoryBytes
    state = Mutex((admission, 0))
  }

  /// A worker's place among all, if it may begin.
  func admit(memoryBytes: Int64) -> Int? {
    state.withLock { state in
      guard state.admission.canAdmit(memoryBytes: memoryBytes) else { return nil }
      state.next += 1
      state.admission.admit(state.next, memoryBytes: memoryBytes)
      return state.next
    }
  }

  func release(_ place: Int) { state.withLock { $0.admission.release(place) } }

  /// Cores by place.
  var shares: [Int: Int] {
    state.withLock { state in
      Dictionary(state.admission.shares.map { ($0.id, $0.cores) }) { first, _ in first }
    }
  }

  /// Workers at work, of all runs.
  var count: Int { state.withLock { $0.admission.count } }

  /// How many more there are descriptors, processes and threads for.
  var freeWorkers: Int { state.withLock { $0.admission.mostWorkers - $0.admission.count } }

  /// Whether there is a core for one more worker.
  public var hasFreeCore: Bool { count < cores }

  func limitToRunning() { state.withLock { $0.admission.limitToRunning() } }

  func allowOneMore() { state.withLock { $0.admission.allowOneMore() } }
}

import Core
import Synchronization

/// Which workers may run at a time: never more than there are cores, never more memory promised than
/// there is, except that one may always run. One for all runs that go on side by side: a run of a watcher that has been
/// given all that it takes, and the next one, which begins while workers of the first are still at work.
public final class Admission: Sendable {
  let cores: Int
  let memoryBytes: Int64
  private let state: Mutex<State>

  private struct State {
    /// Workers that there are descriptors, processes and threads for.
    var mostWorkers: Int
    /// Promised memory of running workers.
    var running: [(place: Int, memoryBytes: Int64)] = []
    var lastPlace = 0
  }

  init(cores: Int, memoryBytes: Int64, mostWorkers: Int = .max) {
    self.cores = max(1, cores)
    self.memoryBytes = max(0, memoryBytes)
    state = Mutex(State(mostWorkers: max(1, mostWorkers)))
  }

  /// A worker's place among all, if it may begin.
  func admit(memoryBytes needed: Int64) -> Int? {
    state.withLock { state in
      let used = state.running.reduce(0) { $0 + $1.memoryBytes }
      let hasSpace = state.running.count < min(cores, state.mostWorkers)
      guard state.running.isEmpty || hasSpace && needed <= memoryBytes - used else { return nil }
      state.lastPlace += 1
      state.running.append((state.lastPlace, max(0, needed)))
      return state.lastPlace
    }
  }

  func release(_ place: Int) { state.withLock { $0.running.removeAll { $0.place == place } } }

  /// How many cores each running worker may keep busy, by place: all are given away, at least one each, the
  /// rest to those that started first.
  var shares: [Int: Int] {
    let places = state.withLock { $0.running.map(\.place) }
    guard !places.isEmpty else { return [:] }
    let (each, rest) = cores.quotientAndRemainder(dividingBy: places.count)
    return Dictionary(
      firstOf: places.enumerated().map { ($0.element, max(1, each + ($0.offset < rest ? 1 : 0))) })
  }

  /// Workers at work, of all runs.
  var count: Int { state.withLock { $0.running.count } }

  /// How many more there are descriptors, processes and threads for.
  var freeWorkers: Int { state.withLock { $0.mostWorkers - $0.running.count } }

  /// Whether there is a core for one more worker.
  public var hasFreeCore: Bool { count < cores }

  /// Something was short for one more than are running now: so many it is from now on.
  func limitToRunning() { state.withLock { $0.mostWorkers = max(1, $0.running.count) } }

  /// A worker has come to its end with nothing short: perhaps there is memory for one more.
  func allowOneMore() { state.withLock { if $0.mostWorkers < .max { $0.mostWorkers += 1 } } }

  /// What a worker of ours uses besides what its stages declare: measured at 100 to 150 MB with a
  /// 1920x1440 video, doubled.
  static let baseMemoryBytes: Int64 = 256 << 20

  /// The memory that a worker on this pipeline is promised.
  public static func expectedMemoryBytes(_ pipeline: PipelineDefinition) -> Int64 {
    pipeline.stages.reduce(baseMemoryBytes) { sum, stage in
      let (total, overflow) = sum.addingReportingOverflow(stage.memoryBytes ?? 0)
      return overflow ? .max : total
    }
  }
}

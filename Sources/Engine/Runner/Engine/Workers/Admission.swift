/// Which workers may run at a time: never more than there are cores, never more memory promised than
/// there is, except that one may always run. Pure.
public struct Admission: Sendable {
  public let cores: Int
  let memoryBytes: Int64
  /// Workers that there are descriptors, processes and threads for.
  private(set) var mostWorkers: Int
  /// Promised memory of running workers, by capture.
  private var running: [(id: Int, memoryBytes: Int64)] = []

  init(cores: Int, memoryBytes: Int64, mostWorkers: Int = .max) {
    self.mostWorkers = max(1, mostWorkers)
    self.cores = max(1, cores)
    self.memoryBytes = max(0, memoryBytes)
  }

  var usedMemoryBytes: Int64 { running.reduce(0) { $0 + $1.memoryBytes } }
  public var count: Int { running.count }

  func canAdmit(memoryBytes needed: Int64) -> Bool {
    if running.isEmpty { return true }
    return running.count < min(cores, mostWorkers) && needed <= memoryBytes - usedMemoryBytes
  }

  mutating func admit(_ id: Int, memoryBytes: Int64) {
    running.append((id, max(0, memoryBytes)))
  }

  /// Something was short for one more than are running now: so many it is from now on.
  mutating func limitToRunning() { mostWorkers = max(1, running.count) }

  /// A worker has come to its end with nothing short: perhaps there is memory for one more.
  mutating func allowOneMore() {
    if mostWorkers < .max { mostWorkers += 1 }
  }

  mutating func release(_ id: Int) { running.removeAll { $0.id == id } }

  /// How many cores each running worker may keep busy: all are given away, at least one each, the
  /// rest to those that started first.
  var shares: [(id: Int, cores: Int)] {
    guard !running.isEmpty else { return [] }
    let (each, rest) = cores.quotientAndRemainder(dividingBy: running.count)
    return running.enumerated().map { ($0.element.id, max(1, each + ($0.offset < rest ? 1 : 0))) }
  }

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

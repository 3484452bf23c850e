import Core

/// Finds out ahead which captures need no worker, many at a time on all cores that the run may use.
package struct UpToDateCheck: Sendable {
  /// What was found out about one capture.
  package struct Finding: Sendable {
    /// Index into the targets of the run.
    package var index: Int
    /// Another run works on it.
    var isLocked: Bool
    /// The report of a capture for which nothing is to be done.
    package var upToDate: CaptureReport?
  }

  private let batch: BatchRun
  private let targets: [CaptureTarget]
  private let pool = ParameterPool()
  private let budget: CoreBudget
  private let comparison: KnownCapture.Comparison

  package init(
    _ batch: BatchRun, _ targets: [CaptureTarget], comparison: KnownCapture.Comparison = .stamps
  ) {
    self.batch = batch
    self.comparison = comparison
    self.targets = targets
    budget = CoreBudget(cores: batch.options.cores)
  }

  /// How many captures are looked at before anything is made of it: what is found out of one with nothing
  /// but notes costs a tenth of a millisecond; with `--verify` all that it published is read.
  package var blockLength: Int { batch.options.verify ? batch.options.cores : 256 }

  /// Looks at some captures; findings come in the order of `indices`. An interrupt ends it early: what
  /// has not been looked at by then is left out.
  package func look(at indices: [Int], until interruption: Interruption) -> [Finding] {
    // Captures are examined in groups, because taking a core's token costs as much as planning one.
    let share = max(1, min(16, indices.count / batch.options.cores))
    let found = try? concurrentMap(indices, share: share, budget: budget) { index -> Finding? in
      interruption.isRequested ? nil : look(at: index)
    }
    return (found ?? []).compactMap(\.self)
  }

  private func look(at index: Int) -> Finding {
    let target = targets[index]
    let isLocked = FileLock.isHeld(at: target.layout.lock)
    return Finding(
      index: index, isLocked: isLocked,
      upToDate: isLocked ? nil : batch.upToDate(target, pool, comparison: comparison))
  }
}

import Captures
import Engine

/// Determines which captures have work, and creates array tasks for them. Called at the beginning
/// of a run, and by the round for captures that other runs released.
struct WorkPlanner {
  private let context: ClusterContext
  private let outcomes: CaptureOutcomes
  private let held: HeldCaptures
  private let submitter: ArraySubmitter

  init(
    _ context: ClusterContext, _ outcomes: CaptureOutcomes, _ held: HeldCaptures,
    _ submitter: ArraySubmitter
  ) {
    self.context = context
    self.outcomes = outcomes
    self.held = held
    self.submitter = submitter
  }

  /// Creates array tasks for all captures with work that no other run works on. Returns their
  /// number.
  ///
  /// - Parameters:
  ///   - past: captures that were processed before.
  ///   - planned: captures that were in the plans of other runs before `work` was determined.
  func begin(_ work: [Int], past: [Int], planned: Set<String>) -> Int {
    let targets = context.targets
    let others = held.find(among: Set(work.map { targets[$0].layout.name }))
    if context.plan.options.waitsForLocks {
      held.wait(for: others)
    } else {
      for name in others.sorted() {
        guard let index = context.indices[name] else { continue }
        outcomes.settleLate(
          index,
          CaptureOutcome(
            targets[index].skipped("held by \(held.holder(of: name))"), codes: [ExitStatus.locked]))
      }
    }
    // Captures that another run finished in the meantime have no work any more.
    let ours = work.filter { !others.contains(targets[$0].layout.name) }
    let settledSince = settle(ours.filter { planned.contains(targets[$0].layout.name) })
    return add(ours.filter { !settledSince.contains($0) }, past: past)
  }

  /// Checks captures and creates array tasks for those with work.
  func takeUp(_ indices: [Int]) {
    guard !indices.isEmpty else { return }
    let settled = settle(indices)
    _ = add(indices.filter { !settled.contains($0) }, past: [])
  }

  private func add(_ indices: [Int], past: [Int]) -> Int {
    let maker = ArrayTaskMaker(batch: context.batch, limits: context.limits, site: context.site)
    let groups = maker.groups(
      indices.map { context.targets[$0] }, past: past.map { context.targets[$0] }
    ).groups
    submitter.add(groups)
    return groups.count
  }

  /// Checks captures again and reports those without work. Returns their indices.
  private func settle(_ indices: [Int]) -> Set<Int> {
    guard !indices.isEmpty else { return [] }
    var settled: Set<Int> = []
    let check = UpToDateCheck(context.batch, context.targets, rereads: true)
    for finding in check.look(at: indices, until: context.interruption) {
      guard let report = finding.upToDate else { continue }
      outcomes.settleLate(finding.index, CaptureOutcome(report))
      settled.insert(finding.index)
    }
    return settled
  }
}

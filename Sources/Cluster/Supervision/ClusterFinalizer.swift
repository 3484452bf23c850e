import Captures
import Engine
import Core
import SystemPackage

/// Continues a detached run after its array tasks have ended: retries captures, or concludes the
/// run.
public struct ClusterFinalizer {
  public let files: RunFiles
  public let plan: ClusterPlan
  let clock: RunClock

  public enum Outcome: Sendable {
    /// Another process is in charge of the run, or it was concluded before.
    case nothing
    /// Captures are retried; a follow-up job continues the run.
    case goesOn
    case ended
  }

  /// `nil` for a folder that does not belong to a run on a batch system.
  public init?(run: FilePath, clock: RunClock = .system) {
    files = RunFiles(run: run)
    guard let plan = ClusterPlan.read(files) else { return nil }
    self.plan = plan
    self.clock = clock
  }

  /// - Parameter tell: receives the report when the run is over. During the call no other process
  ///   can conclude the run, and the run counts as concluded only after it returns. If the process
  ///   is killed before that, the run can be concluded again.
  public func perform(
    _ batch: BatchRun, _ system: SlurmSystem, events: any EventSink,
    interruption: Interruption, tell: (RunReport, ClusterStop?) throws -> Void
  ) throws -> Outcome {
    let folder = try HeldFolder.following(files.folder)
    // Elements may be over before the supervisor that submitted them, and the job behind them, has ended: about a minute.
    var looks = 600
    guard !ConcurrentRuns.isClosed(files),
      let lock = try FileLock(
        in: folder, name: RunFiles.lockName, holder: "run \(plan.run)",
        keepWaiting: { _ in
          looks -= 1
          return looks > 0 && !interruption.isRequested
        }),
      !ConcurrentRuns.isClosed(files)
    else { return .nothing }
    defer { withExtendedLifetime(lock) {} }
    var site = Site()
    switch system.site() {
    case .site(let known): site = known
    case .silent, .unusable: break
    }
    let targets = try targets()
    let context = ClusterContext(
      batch: batch, plan: plan, files: files, system: system, site: site, events: events,
      interruption: interruption, clock: clock, targets: targets,
      indices: ClusterContext.indices(of: targets))
    let cluster = try ClusterRun(context, declined: [])
    try cluster.resume()
    if cluster.concludeOrFollow() { return .goesOn }
    var report = cluster.close()
    report.captures = plan.settled + report.captures
    report.unrecognized = plan.unrecognized
    // Empty, so that totals are computed from the run's journal, which knows when the run began.
    report.totals = RunTotals()
    try tell(report, cluster.stopper.reason)
    // While array tasks are still at work, the run stays open.
    if cluster.stopper.reason?.leavesElements != true { ConcurrentRuns.close(files) }
    return .ended
  }

  /// Captures with work, read from the orders.
  private func targets() throws(FileError) -> [CaptureTarget] {
    let orders = OrderFiles(files: files)
    var found: [String: CaptureTarget] = [:]
    for number in try orders.numbers {
      for capture in try orders.read(number)?.captures ?? [] {
        found[capture.name] = capture.target
      }
    }
    return plan.work.compactMap { found[$0] }
  }
}

import Captures
import Output
import Pipeline
import Runner
import Storage
import SystemPackage

/// Goes on with a detached run after its elements have ended: tries again what can be, or concludes.
public struct ClusterFinalizer {
  public let files: RunFiles
  public let plan: ClusterPlan
  let clock: RunClock

  public enum Outcome: Sendable {
    /// Another process looks after it, or it has been concluded.
    case nothing
    /// Something is tried again; a job that follows goes on.
    case goesOn
    case ended
  }

  /// `nil` for a folder that is none of a run on a batch system.
  public init?(run: FilePath, clock: RunClock = .system) {
    files = RunFiles(run: run)
    guard let plan = ClusterPlan.read(files) else { return nil }
    self.plan = plan
    self.clock = clock
  }

  /// - Parameter tell: is given the report when the run is over. It is called while nobody else can conclude
  ///   the run, and the run counts as over once it returns: a process that is killed in it leaves the run to be
  ///   concluded again.
  public func perform(
    _ batch: BatchRun, _ system: any BatchSystem, events: any EventSink,
    interruption: Interruption, tell: (RunReport, ClusterStop?) throws -> Void
  ) throws -> Outcome {
    let folder = try HeldFolder.following(files.folder)
    guard !ConcurrentRuns.isClosed(files),
      let lock = try FileLock(
        in: folder, name: RunFiles.lockName, holder: "run \(plan.run)", keepWaiting: { _ in false })
    else { return .nothing }
    defer { withExtendedLifetime(lock) {} }
    var site = Site()
    switch system.site() {
    case .site(let known): site = known
    case .silent, .unusable: break
    }
    let context = ClusterContext(
      batch, plan, targets(), files: files, system: system, site: site, events: events,
      interruption: interruption, clock: clock)
    let cluster = try ClusterRun(context, declined: [])
    let detached = UnattendedRun(cluster)
    try detached.resume()
    if detached.concludeOrFollow() { return .goesOn }
    var report = cluster.close()
    report.captures = plan.settled + report.captures
    report.unrecognized = plan.unrecognized
    // From the run's own beginning, which the journal knows.
    report.totals = RunTotals()
    try tell(report, cluster.stopper.reason)
    // What is still at work is not forgotten.
    if cluster.stopper.reason?.leavesElements != true { ConcurrentRuns.close(files) }
    return .ended
  }

  /// Captures with work, from the orders.
  private func targets() -> [CaptureTarget] {
    let orders = OrderFiles(files: files)
    var found: [String: CaptureTarget] = [:]
    for number in orders.numbers {
      for capture in orders.read(number)?.captures ?? [] { found[capture.name] = capture.target }
    }
    return plan.work.compactMap { found[$0] }
  }
}

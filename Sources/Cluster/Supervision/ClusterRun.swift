import Captures
import Engine
import Core

/// A run on a batch system from its first array task to its report. Creates the parts and calls
/// each of them in a round. All decisions are made on the caller's thread. All state that is needed
/// to continue the run is in files, so another process can do so.
///
/// `ClusterSupervisor` and `ClusterFinalizer` begin and close the run; in between, `AttendedRun` or
/// `UnattendedRun` repeats the round.
final class ClusterRun {
  let context: ClusterContext
  let stopper: ClusterStopper
  let elements = LiveElements()
  let outcomes: CaptureOutcomes
  let listener: ResultListener
  let throttles: ThrottleSharing
  let submitter: ArraySubmitter
  let planner: WorkPlanner
  let decider: ElementDecider
  private let held: HeldCaptures
  private let query: SchedulerQuery
  private let reporter: ClusterReporter
  /// Number of array tasks in the first round.
  private var firstCount = 0

  /// Sends the event that the run has begun.
  ///
  /// - Parameter stop: why the run ends before it has done anything.
  /// - Throws: if the log of submissions cannot be opened.
  init(
    _ context: ClusterContext, declined: [CaptureFinder.Finding], stop: ClusterStop? = nil
  ) throws {
    self.context = context
    stopper = ClusterStopper(stop)
    let log = try SubmissionLog(in: HeldFolder.following(context.files.folder))
    let decisions = try? DecisionLog(context.files)
    let (silence, losses) = (SilenceClock(), NodeLosses())
    outcomes = CaptureOutcomes(context, elements, decisions, declined: declined)
    reporter = ClusterReporter(context, startSeconds: context.clock.monotonicSeconds())
    listener = ResultListener(context, elements, reporter)
    held = HeldCaptures(context)
    query = SchedulerQuery(context, elements, held, stopper, silence)
    throttles = ThrottleSharing(context, elements)
    submitter = ArraySubmitter(
      context, log, elements: elements, outcomes: outcomes, held: held, query: query,
      throttles: throttles, losses: losses, reporter: reporter, stopper: stopper, silence: silence)
    planner = WorkPlanner(context, outcomes, held, submitter)
    decider = ElementDecider(context, elements, outcomes, submitter, losses, reporter, stopper)
  }

  /// Whether there is nothing left to do or to wait for.
  var isOver: Bool { elements.isEmpty && decider.isEmpty && held.isEmpty }

  /// Reports captures without work, and creates array tasks for the others unless another run works
  /// on them.
  ///
  /// - Parameters:
  ///   - settled: reports of captures without work, by index.
  ///   - work: indices of the others.
  ///   - planned: captures that were in the plans of other runs before `work` was determined.
  func begin(settled: [Int: CaptureReport], work: [Int], planned: Set<String>) {
    let sorted = settled.sorted { $0.key < $1.key }
    for (index, report) in sorted { outcomes.settle(index, report) }
    if work.isEmpty { return }
    firstCount = planner.begin(work, past: sorted.map(\.key), planned: planned)
  }

  /// Restores the number of array tasks in the first round.
  func resume(firstCount: Int) { self.firstCount = firstCount }

  /// Reads results, queries, decides and submits once. Cost: at most one query of states or
  /// reasons.
  func round() {
    let now = context.clock.monotonicSeconds()
    if listener.hear(atSeconds: now) { query.noteNews() }
    query.ask(atSeconds: now)
    decider.decide(atSeconds: now)
    let released = held.release(atSeconds: now)
    for line in released.lines { outcomes.finish(line.outcome, of: nil, line) }
    planner.takeUp(released.fresh)
    decider.takeUpLater(atSeconds: now)
    if stopper.reason == nil { submitter.submit(atSeconds: now) }
    if stopper.reason == nil, !submitter.isUnanswered { throttles.shareOut(atSeconds: now) }
    reporter.progress(
      elements, outcomes, held: held.count, reason: query.waitingReason, atSeconds: now)
  }

  /// The report of all captures, in order. Captures that have not ended are reported as
  /// interrupted, or as skipped after a configuration error.
  func close() -> RunReport {
    if context.interruption.isRequested || stopper.reason?.leavesElements == true {
      outcomes.interruptRest()
    }
    var report = outcomes.close()
    var figures = ClusterFigures()
    figures.jobs = submitter.jobs
    figures.elements = firstCount
    figures.submitted = submitter.submittedCount
    figures.retried = decider.retriedCount
    figures.queuedSeconds = listener.queuedSeconds
    report.cluster = figures
    if let stop = stopper.reason { report.exit = ExitStatus.gravest([stop.exit]) }
    return report
  }
}

import Captures
import Output
import Pipeline
import Runner
import Storage

/// A run on a batch system from its first element to its report: makes its parts, and gives each its turn in a round.
/// One thread, the caller's, decides; all that it knows stands in files, so that another process can go on where this
/// one ended.
///
/// `ClusterSupervisor` and `ClusterFinalizer` begin and close it; between that `AttendedRun` or `UnattendedRun` repeats
/// the round.
final class ClusterRun {
  let context: ClusterContext
  let stopper: ClusterStopper
  let elements = LiveElements()
  let ledger: ClusterLedger
  let listener: ResultListener
  let throttles: ThrottleSharing
  let submitter: ArraySubmitter
  let planner: WorkPlanner
  let decider: ElementDecider
  private let held: HeldCaptures
  private let query: SchedulerQuery
  private let reporter: ClusterReporter
  /// Elements of the first round.
  private var firstCount = 0

  /// Tells that the run has begun. Throws when its log of submissions cannot be opened.
  ///
  /// - Parameter stop: why it ends before it has done anything.
  init(
    _ context: ClusterContext, declined: [CaptureFinder.Finding], stop: ClusterStop? = nil
  ) throws {
    self.context = context
    stopper = ClusterStopper(stop)
    let log = try SubmissionLog(in: HeldFolder.following(context.files.folder))
    let decisions = try? DecisionLog(context.files)
    let (silence, losses) = (SilenceClock(), NodeLosses())
    ledger = ClusterLedger(context, elements, decisions, declined: declined)
    reporter = ClusterReporter(context, startSeconds: context.clock.monotonicSeconds())
    listener = ResultListener(context, elements, reporter)
    held = HeldCaptures(context)
    query = SchedulerQuery(context, elements, held, stopper, silence)
    throttles = ThrottleSharing(context, elements)
    submitter = ArraySubmitter(
      context, log, elements: elements, ledger: ledger, held: held, query: query,
      throttles: throttles, losses: losses, reporter: reporter, stopper: stopper, silence: silence)
    planner = WorkPlanner(context, ledger, held, submitter)
    decider = ElementDecider(context, elements, ledger, submitter, losses, reporter, stopper)
  }

  /// Whether nothing is left to be done or waited for.
  var isOver: Bool { elements.isEmpty && decider.isEmpty && held.isEmpty }

  /// Takes captures without work into the report and makes elements of the others, unless elements of another run have
  /// them.
  ///
  /// - Parameters:
  ///   - settled: reports of captures without work, by index.
  ///   - work: indices of the others.
  ///   - planned: captures that other runs had in their plans before `work` was found.
  func begin(settled: [Int: CaptureReport], work: [Int], planned: Set<String>) {
    let sorted = settled.sorted { $0.key < $1.key }
    for (index, report) in sorted { ledger.settle(index, report) }
    if work.isEmpty { return }
    firstCount = planner.begin(work, past: sorted.map(\.key), planned: planned)
  }

  /// It was begun by an earlier process, with so many elements in its first round.
  func resume(firstCount: Int) { self.firstCount = firstCount }

  /// Hears, asks, decides and submits once. Costs at most one query.
  func round() {
    let now = context.clock.monotonicSeconds()
    if listener.hear(atSeconds: now) { query.noteNews() }
    query.ask(atSeconds: now)
    decider.decide(atSeconds: now)
    let released = held.release(atSeconds: now)
    for line in released.lines { ledger.finish(line.outcome, of: nil, line) }
    planner.takeUp(released.fresh)
    decider.takeUpLater(atSeconds: now)
    if stopper.reason == nil { submitter.submit(atSeconds: now) }
    if stopper.reason == nil, !submitter.isUnanswered { throttles.shareOut(atSeconds: now) }
    reporter.progress(
      elements, ledger, held: held.count, reason: query.waitingReason, atSeconds: now)
  }

  /// The report of all captures, in their order; what has not ended is told as such.
  func close() -> RunReport {
    if context.interruption.isRequested || stopper.reason?.leavesElements == true {
      ledger.interruptRest()
    }
    var report = ledger.close()
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

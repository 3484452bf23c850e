import Captures
import Output
import Parallel
import Pipeline
import Runner
import Storage
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A run on a batch system from its first element to its report. One thread, the caller's, decides; all
/// that it knows stands in files, so that another process can go on where this one ended.
public final class ClusterRun {
  let batch: BatchRun
  let plan: ClusterPlan
  let files: RunFiles
  let system: any BatchSystem
  let site: Site
  let events: any EventSink
  let clock: RunClock
  let interruption: Interruption
  let judge: TaskOutcomeRule
  let reader: ResultReader
  let orders: OrderFiles
  let submissions: SubmissionLog
  let decisions: DecisionLog?

  var ledger: RunReportBuilder
  let targets: [CaptureTarget]
  let indices: [String: Int]
  /// Captures that have ended, and whether well.
  var ended: [String: Bool] = [:]
  /// By number: not decided about yet.
  var elements: [Int: LiveElement] = [:]
  /// Numbers of elements that wait to be submitted, consecutive and alike in each.
  var unsubmitted: [ArrayPlan] = []
  /// Captures to be tried again, and when.
  var later: [(capture: ArrayTaskCapture, dueSeconds: Double)] = []
  var others: ConcurrentRuns
  var nextNumber = 0
  var nextSubmission = 1
  var figures = ClusterFigures()
  var elementsEnded = 0
  var breakdowns: [(how: Breakdown, node: String)] = []
  /// Whether any element of this run has brought a capture to a good end.
  var hasProcessed = false
  var losses: [String: Int] = [:]
  /// Why the run stops before its end.
  var stop: ClusterStop?
  /// How many elements an array may have now: less after the site refused more.
  var mostAtOnce: Int
  var nextSubmitSeconds = 0.0
  /// A submission that the batch system has not answered, and how often its name was not found since.
  var unanswered: (submission: Submission, looks: Int)?
  var isSaidFull = false
  var silentSince: Double?
  var nextQuerySeconds = 0.0
  var nextReasonSeconds = 0.0
  var pollSeconds: Double
  var waitingReason: String?
  var hasCancelledWaiting = false
  /// How many elements of each array may run at a time; an array without an entry is not held back.
  var throttles: [String: Int] = [:]
  var nextThrottleSeconds = 0.0
  var lastText = ""
  let startSeconds: Double
  /// Seconds of work that elements were expected to take, by number, for what is left.
  var expectedSeconds: [Int: Double] = [:]
  var workSecondsDone = 0.0

  init(
    _ batch: BatchRun, _ plan: ClusterPlan, _ targets: [CaptureTarget],
    declined: [CaptureFinder.Finding], files: RunFiles, system: any BatchSystem, site: Site,
    events: any EventSink, interruption: Interruption, clock: RunClock
  ) throws {
    self.batch = batch
    self.plan = plan
    self.files = files
    self.system = system
    self.site = site
    self.events = events
    self.clock = clock
    self.interruption = interruption
    self.targets = targets
    indices = Dictionary(
      targets.enumerated().map { ($0.element.layout.name, $0.offset) }
    ) { first, _ in first }
    judge = TaskOutcomeRule(
      RoundLimits(
        maxMemoryBytes: plan.limits.maxMemoryBytes, maxTimeSeconds: plan.limits.maxTimeSeconds))
    reader = ResultReader(files)
    orders = OrderFiles(files: files)
    submissions = try SubmissionLog(in: HeldFolder.following(files.folder))
    decisions = try? DecisionLog(files)
    ledger = RunReportBuilder(
      targets, declined: declined, run: plan.run, clock: clock, events: events)
    others = ConcurrentRuns()
    mostAtOnce = min(site.maxArraySize, plan.limits.maxQueued)
    pollSeconds = plan.limits.pollSeconds
    startSeconds = clock.monotonicSeconds()
  }

  /// Whether nothing is left to be done or waited for.
  var isOver: Bool { elements.isEmpty && later.isEmpty && others.held.isEmpty }

  // MARK: The round

  /// Hears, asks, decides and submits once. Costs at most one query.
  func round() {
    let now = clock.monotonicSeconds()
    hear(now)
    if now >= nextQuerySeconds { ask(now) }
    decide(now)
    releaseHeld(now)
    takeUpLater(now)
    if stop == nil { submit(now) }
    if stop == nil { shareOut(now) }
    tell(now)
  }

  private func hear(_ now: Double) {
    var hasNews = false
    for entry in reader.read(where: { elements[$0] != nil }) {
      hasNews = true
      let wasBegun = elements[entry.element]?.begin != nil
      elements[entry.element]?.hear(entry.line, atSeconds: now)
      switch entry.line {
      case .event(let event): events.send(event)
      case .begin(let begin):
        var event = RunEvent(.elementStarted, time: clock.wallText())
        event.element = entry.element
        event.job = begin.job
        event.node = begin.host
        events.send(event)
        if !wasBegun, let submitted = elements[entry.element]?.submittedSeconds {
          figures.queuedSeconds = max(figures.queuedSeconds, now - submitted)
        }
      case .end(let end):
        if end.tookHeldLock == true { tellLocksNotShared(entry.element) }
      case .capture: break
      }
    }
    if hasNews { pollSeconds = plan.limits.pollSeconds }
  }

  var liveJobs: [String] { Set(elements.values.compactMap { $0.task?.job }).sorted() }
}

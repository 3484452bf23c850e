import Captures
import Core
import Engine

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
  func begin(
    settled: [Int: CaptureReport], work: [Int], planned: Set<String>
  ) throws(FileError) {
    let sorted = settled.sorted { $0.key < $1.key }
    for (index, report) in sorted { outcomes.settle(index, report) }
    if work.isEmpty { return }
    firstCount = try planner.begin(work, past: sorted.map(\.key), planned: planned)
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

/// Reads new results of array tasks and passes them on: to `LiveElements`, and as events. The round
/// and `ElementCanceller` call it.
final class ResultListener {
  private let context: ClusterContext
  private let elements: LiveElements
  private let reporter: ClusterReporter
  private let reader: ResultReader
  /// The longest observed wait between submission and start.
  private(set) var queuedSeconds = 0.0

  init(_ context: ClusterContext, _ elements: LiveElements, _ reporter: ClusterReporter) {
    self.context = context
    self.elements = elements
    self.reporter = reporter
    reader = ResultReader(context.files)
  }

  /// Returns whether there were new lines. Cost: lists the results folder and reads the new parts
  /// of files.
  func hear(atSeconds now: Double) -> Bool {
    var hasNews = false
    for entry in reader.read(where: { elements[$0] != nil }) {
      hasNews = true
      let wasBegun = elements[entry.element]?.begin != nil
      elements.update(entry.element) { $0.hear(entry.line, atSeconds: now) }
      switch entry.line {
      case .event(let event): context.events.send(event)
      case .begin(let begin):
        reporter.started(entry.element, begin)
        if !wasBegun, let submitted = elements[entry.element]?.submittedSeconds {
          queuedSeconds = max(queuedSeconds, now - submitted)
        }
      case .end(let end):
        if end.tookHeldLock == true {
          reporter.locksNotShared(entry.element, node: elements[entry.element]?.begin?.host)
        }
      case .capture: break
      }
    }
    return hasNews
  }

  /// Reads results during a cancellation. Only events of the run are passed on as events.
  func hearLastWords() {
    for entry in reader.read(where: { elements[$0] != nil }) {
      elements.update(entry.element) {
        $0.hear(entry.line, atSeconds: context.clock.monotonicSeconds())
      }
      if case .event(let event) = entry.line { context.events.send(event) }
    }
  }
}

/// Distributes the run's limit of running array tasks among its arrays, because the batch system
/// limits each array separately. `ArraySubmitter` gets a throttle for each new array; the round
/// redistributes shares of tasks that have ended.
final class ThrottleSharing {
  private let context: ClusterContext
  private let elements: LiveElements
  /// How many tasks of each array may run at a time; arrays without an entry are unlimited.
  private var throttles: [String: Int] = [:]
  private var nextSeconds = 0.0

  init(_ context: ClusterContext, _ elements: LiveElements) {
    self.context = context
    self.elements = elements
  }

  /// Notes the throttle of a submitted array; `nil` if it has none.
  func note(_ job: String, _ throttle: Int?) { throttles[job] = throttle }

  /// The throttle for a new array of `count` tasks; `nil` if it needs none.
  func throttle(forCount count: Int) -> Int? {
    let others = elements.unsubmittedCount - count
    let (jobs, shares) = shares(with: [count, max(0, others)])
    let share = shares[jobs.count]
    return share >= count ? nil : share
  }

  /// Gives unused shares to arrays that need them. At most one change per interval; reductions come
  /// first, so that the limit is exceeded for one interval at most.
  func shareOut(atSeconds now: Double) {
    guard now >= nextSeconds, !throttles.isEmpty else { return }
    nextSeconds = now + max(5, context.limits.pollSeconds)
    let (jobs, shares) = shares(with: [elements.unsubmittedCount])
    var less: (job: String, share: Int)?
    var more: (job: String, share: Int, gain: Int)?
    for (entry, share) in zip(jobs, shares) {
      // Without a throttle all remaining tasks may run.
      let current = min(entry.left, throttles[entry.job] ?? entry.left)
      if share < current { less = less ?? (entry.job, share) }
      if share > current, share - current > (more?.gain ?? 0) {
        more = (entry.job, share, share - current)
      }
    }
    guard let change = less ?? more.map({ ($0.job, $0.share) }) else { return }
    throttles[change.job] = change.share
    context.system.throttle(change.job, to: change.share)
  }

  /// Number of unfinished tasks of each array, and the share that each should have. Shares for
  /// `more` follow at the end.
  private func shares(with more: [Int]) -> (jobs: [(job: String, left: Int)], shares: [Int]) {
    var left: [String: Int] = [:]
    for element in elements.all {
      if let job = element.task?.job { left[job, default: 0] += 1 }
    }
    let jobs = left.sorted { $0.key < $1.key }.map { (job: $0.key, left: $0.value) }
    return (jobs, Grouping.throttles(context.limits.maxRunning, over: jobs.map(\.left) + more))
  }
}

/// The array tasks of a run that have not been decided about, by number, and the progress of the
/// work. All parts of a run read them.
final class LiveElements {
  private var elements: [Int: LiveElement] = [:]
  /// Number of tasks that have been decided about.
  private(set) var endedCount = 0
  /// Estimated seconds of work of those tasks.
  private(set) var secondsDone = 0.0

  subscript(number: Int) -> LiveElement? { elements[number] }

  var isEmpty: Bool { elements.isEmpty }
  var count: Int { elements.count }
  var all: some Collection<LiveElement> { elements.values }
  /// Ascending.
  var numbers: [Int] { elements.keys.sorted() }

  /// Number of submitted tasks.
  var submittedCount: Int { elements.values.count { $0.task != nil } }
  /// Number of tasks that are not submitted yet.
  var unsubmittedCount: Int { elements.values.count { $0.task == nil } }
  /// IDs of the arrays of submitted tasks, each once, in alphabetical order.
  var jobs: [String] { Set(elements.values.compactMap { $0.task?.job }).sorted() }
  /// Tasks that are known to be pending.
  var waiting: [LiveElement] {
    elements.values.filter { $0.begin == nil && $0.view?.state == .pending }
  }
  /// Estimated seconds of work of all tasks that have not been decided about.
  var secondsLeft: Double { elements.values.reduce(0) { $0 + $1.expectedSeconds } }

  func add(_ new: [LiveElement]) {
    for element in new { elements[element.number] = element }
  }

  /// Restores the tasks of a run that another process began.
  func resume(_ known: [LiveElement], endedCount: Int) {
    add(known)
    self.endedCount = endedCount
  }

  /// Changes a task; does nothing if it does not exist.
  func update(_ number: Int, _ change: (inout LiveElement) -> Void) {
    guard var element = elements[number] else { return }
    change(&element)
    elements[number] = element
  }

  /// Removes a task that has been decided about.
  func settle(_ number: Int) {
    guard let element = elements.removeValue(forKey: number) else { return }
    endedCount += 1
    secondsDone += element.expectedSeconds
  }

  /// Removes a task that never started.
  func drop(_ number: Int) { elements[number] = nil }

  func dropAll() { elements = [:] }
}

/// Captures that other runs work on. This run waits for them and takes over those that were
/// released.
final class HeldCaptures {
  private let context: ClusterContext
  private var runs = ConcurrentRuns()
  /// Names of captures that this run waits for.
  private var held: Set<String> = []

  /// Captures that other runs have released.
  struct Released {
    /// Results of captures that the other run processed in the same way, in alphabetical order.
    var lines: [CaptureLine] = []
    /// Indices of the others, which still need processing.
    var fresh: [Int] = []
  }

  init(_ context: ClusterContext) { self.context = context }

  /// IDs of the arrays of the other runs.
  var jobs: [String] { runs.jobs }
  /// Whether there is no capture to wait for.
  var isEmpty: Bool { held.isEmpty }
  /// Number of captures to wait for.
  var count: Int { held.count }

  /// Finds other runs on the output. Returns those of `names` that they still work on.
  func find(among names: Set<String>) throws(FileError) -> Set<String> {
    runs = try ConcurrentRuns(
      in: context.plan.options.output, except: context.plan.run, context.system)
    return names.intersection(runs.working)
  }

  /// Sets the captures to wait for.
  func wait(for names: Set<String>) { held = names }

  /// The run that works on a capture, for messages.
  func holder(of name: String) -> String { runs.holder(of: name) }

  /// Takes new states of other runs' array tasks from the batch system.
  func see(_ table: TaskTable, atSeconds now: Double) { runs.see(table, atSeconds: now) }

  /// The captures released since the last call; they are no longer waited for.
  func release(atSeconds now: Double) -> Released {
    guard !held.isEmpty else { return Released() }
    runs.hear(atSeconds: now)
    let working = runs.working
    let names = held.subtracting(working)
    guard !names.isEmpty else { return Released() }
    held.formIntersection(working)
    var released = Released()
    for name in names.sorted() {
      if let (line, _) = runs.line(of: name, key: context.plan.key), !line.outcome.isLocked,
        line.outcome.report.outcome != .interrupted
      {
        released.lines.append(line)
      } else if let index = context.indices[name] {
        released.fresh.append(index)
      }
    }
    return released
  }
}

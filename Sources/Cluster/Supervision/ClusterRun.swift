import Captures
import Core
import Engine
import SystemPackage
import Glibc

/// A run on a batch system from its first array task to its report. Creates the parts and calls
/// each of them in a round. All decisions are made on the caller's thread. All state that is needed
/// to continue the run is in files, so another process can do so.
///
/// `ClusterSupervisor` and `ClusterFinalizer` begin and close the run. In between, either its process stays until all
/// array tasks have ended (`attend`), or it ends before them: then each process restores the state from files
/// (`resume`), does what is possible now, and submits a follow-up job for the rest. Both repeat one round.
final class ClusterRun {
  private let context: ClusterContext
  private let outcomes: CaptureOutcomes
  let submitter: ArraySubmitter
  private let decider: ElementDecider
  private let others: ConcurrentRuns
  private let query: SchedulerQuery
  private let reporter: ClusterReporter
  private let results: ResultReader
  /// The longest observed wait between submission and start.
  private var queuedSeconds = 0.0
  /// Number of array tasks in the first round.
  private var firstCount = 0

  /// Sends the event that the run has begun.
  ///
  /// - Throws: if the log of submissions cannot be opened.
  init(_ context: ClusterContext, declined: [CaptureFinder.Finding]) throws {
    self.context = context
    let log = try SubmissionLog(in: HeldFolder.following(context.files.folder))
    let decisions = try? DecisionLog(context.files)
    outcomes = CaptureOutcomes(context, decisions, declined: declined)
    reporter = ClusterReporter(context)
    results = ResultReader(context.files)
    others = ConcurrentRuns(context)
    query = SchedulerQuery(context, others)
    submitter = ArraySubmitter(context, log, outcomes, others, query, reporter)
    decider = ElementDecider(context, outcomes, submitter, reporter)
  }

  private var elements: LiveElements { context.elements }
  private var stopper: ClusterStopper { context.stopper }

  /// Whether there is nothing left to do or to wait for.
  var isOver: Bool { elements.isEmpty && decider.isEmpty && others.held.isEmpty }

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
    firstCount = try plan(work, past: sorted.map(\.key), planned: planned)
  }

  /// Reads results, queries, decides and submits once. Cost: at most one query of states or
  /// reasons.
  private func round() {
    let now = context.clock.monotonicSeconds()
    if hear(atSeconds: now) { query.noteNews() }
    // An element that the answer calls ended has written its lines before.
    if query.ask(atSeconds: now), hear(atSeconds: now) { query.noteNews() }
    decider.decide(atSeconds: now)
    let released = others.release(atSeconds: now)
    for line in released.lines { outcomes.finish(line.outcome, of: nil, line) }
    takeUp(released.fresh)
    decider.takeUpLater(atSeconds: now)
    if stopper.reason == nil { submitter.submit(atSeconds: now) }
    if stopper.reason == nil, !submitter.isUnanswered { submitter.shareOut(atSeconds: now) }
    reporter.progress(
      outcomes, held: others.held.count, reason: query.waitingReason, atSeconds: now)
  }

  /// Repeats the round until nothing is left to do, the run stops or is interrupted, or a round was enough.
  ///
  /// - Parameter pause: waits for the next round; `false`: there is none.
  private func repeatRounds(until isEnough: () -> Bool, pause: () -> Bool) {
    while !context.interruption.isRequested {
      round()
      if isEnough() || stopper.reason != nil || isOver || !pause() { return }
    }
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
    figures.queuedSeconds = queuedSeconds
    report.cluster = figures
    if let stop = stopper.reason { report.exit = ExitStatus.gravest([stop.exit]) }
    return report
  }

  // MARK: Work

  /// Creates array tasks for all captures with work that no other run works on. Returns their
  /// number.
  ///
  /// - Parameters:
  ///   - past: captures that were processed before.
  ///   - planned: captures that were in the plans of other runs before `work` was determined.
  private func plan(
    _ work: [Int], past: [Int], planned: Set<String>
  ) throws(FileError) -> Int {
    let targets = context.targets
    let foreign = try others.find(among: Set(work.map { targets[$0].layout.name }))
    if context.plan.options.waitsForLocks {
      others.held = foreign
    } else {
      for name in foreign.sorted() {
        guard let index = context.indices[name] else { continue }
        outcomes.settleLate(
          index,
          CaptureOutcome(
            targets[index].skipped("held by \(others.holder(of: name))"), codes: [ExitStatus.locked]
          ))
      }
    }
    // Captures that another run finished in the meantime have no work any more.
    let ours = work.filter { !foreign.contains(targets[$0].layout.name) }
    let settledSince = settle(ours.filter { planned.contains(targets[$0].layout.name) })
    return add(ours.filter { !settledSince.contains($0) }, past: past)
  }

  /// Checks captures and creates array tasks for those with work.
  private func takeUp(_ indices: [Int]) {
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
    let check = UpToDateCheck(context.batch, context.targets, comparison: .recentStamps)
    let settled = check.divide(indices, until: context.interruption).settled
    for index in indices {
      if let report = settled[index] { outcomes.settleLate(index, CaptureOutcome(report)) }
    }
    return Set(settled.keys)
  }

  // MARK: Results

  /// Reads new results of array tasks and passes them on, to `LiveElements` and as events. Returns whether there were
  /// new lines. Cost: lists the results folder and reads the new parts
  /// of files.
  ///
  /// - Parameter isCancelled: whether the array tasks are being cancelled; only events of the run are
  ///   then passed on as events.
  @discardableResult
  private func hear(atSeconds now: Double, isCancelled: Bool = false) -> Bool {
    let entries = results.read { elements[$0] != nil }
    for (number, line) in entries {
      let wasBegun = elements[number]?.begin != nil
      elements.update(number) { $0.hear(line, atSeconds: now) }
      if case .event(let event) = line { context.events.send(event) }
      if isCancelled { continue }
      if case .begin(let begin) = line {
        reporter.started(number, begin)
        if !wasBegun, let submitted = elements[number]?.submittedSeconds {
          queuedSeconds = max(queuedSeconds, now - submitted)
        }
      }
      if case .end(let end) = line, end.tookHeldLock == true {
        reporter.locksNotShared(number, node: elements[number]?.begin?.host)
      }
    }
    return !entries.isEmpty
  }

  // MARK: With a process that stays

  /// Repeats the round until all array tasks have ended, the run is interrupted, or it stops.
  ///
  /// - Parameter isLeft: whether the terminal is gone. Array tasks then continue.
  func attend(isLeft: () -> Bool) {
    if isLeft() { return stopper.leave() }
    let (clock, interruption) = (context.clock, context.interruption)
    let seconds = min(2, context.limits.pollSeconds)
    repeatRounds(until: { false }) {
      if outcomes.hasCancelledWaiting { decider.dropWaiting() }
      // Short pauses, so that an interrupt takes effect soon.
      let until = clock.monotonicSeconds() + seconds
      while clock.monotonicSeconds() < until, !interruption.isRequested, !isLeft() {
        usleep(50_000)
      }
      if isLeft() { stopper.leave() }
      return stopper.reason == nil
    }
    switch stopper.reason {
    case .configuration: cancelAll()
    case nil where !isOver: cancelAll()
    default: break
    }
  }

  /// Cancels all array tasks and reads their last results. Waits for the shorter of the interrupt's grace period
  /// and the site's KillWait, but at least one second, then kills the remaining tasks. An abort kills them at once.
  /// Discards all array tasks at the end.
  private func cancelAll() {
    let (clock, interruption) = (context.clock, context.interruption)
    let jobs = elements.jobs
    if !jobs.isEmpty { context.system.cancel(jobs, .orderly) }
    let left = interruption.secondsLeft(clock) ?? 10
    let until = clock.monotonicSeconds() + max(1, min(left, Double(context.site.killWaitSeconds)))
    var hasKilled = false
    var isKnownOver = jobs.isEmpty
    var pause = 2.0
    var nextLook = clock.monotonicSeconds() + pause
    while !isKnownOver {
      hear(atSeconds: clock.monotonicSeconds(), isCancelled: true)
      isKnownOver = elements.all.allSatisfy { $0.begin == nil || $0.end != nil }
      // A killed array task writes no end.
      if !isKnownOver, clock.monotonicSeconds() >= nextLook {
        isKnownOver = areOver(jobs)
        pause *= 1.5
        nextLook = clock.monotonicSeconds() + pause
      }
      let isAborted = interruption.abort.isCancelled
      if !isKnownOver, isAborted || clock.monotonicSeconds() >= until {
        if hasKilled { break }
        hasKilled = true
        context.system.cancel(jobs, .kill)
      }
      if !isKnownOver { usleep(200_000) }
    }
    for element in elements.all {
      for line in element.lines.values where !line.outcome.isLocked {
        outcomes.finish(line.outcome, of: element, line)
      }
    }
    elements.dropAll()
  }

  /// Whether the batch system reports that none of the jobs is pending or running; `false` if it
  /// does not answer.
  private func areOver(_ jobs: [String]) -> Bool {
    guard case .known(let table) = context.system.tasks(of: jobs) else { return false }
    return elements.all.allSatisfy { element in
      guard let task = element.task else { return true }
      switch table[task]?.state {
      case .pending, .running, .unknown: return false
      case nil: return table.isQueue
      default: return true
      }
    }
  }

  // MARK: With processes that end before the array tasks

  /// Submits as many tasks as the queue limit allows, and a follow-up job. Returns the IDs of the
  /// arrays; `nil` if the run stopped or the job could not be submitted. The process must then
  /// stay.
  func detach() -> [String]? {
    let clock = context.clock
    let patience = clock.monotonicSeconds() + min(60, context.limits.patienceSeconds)
    while !submitter.isEmpty, mayGoOn {
      let now = clock.monotonicSeconds()
      let before = submitter.submittedCount
      let wasUnanswered = submitter.isUnanswered
      submitter.submit(atSeconds: now)
      let takesMore = elements.submittedCount < context.limits.maxQueued
      // Queued tasks must end before more can be submitted. The follow-up job submits the rest.
      if submitter.submittedCount == before, !elements.jobs.isEmpty, !submitter.isUnanswered,
        !wasUnanswered, !takesMore || submitter.isDownToOne || now > patience
      {
        break
      }
      if !submitter.isEmpty { usleep(100_000) }
    }
    guard mayGoOn, submitter.follow() else { return nil }
    return submitter.jobs
  }

  private var mayGoOn: Bool {
    stopper.reason == nil && !context.interruption.isRequested
  }

  /// Restores a run from its files: captures with a decision, submitted tasks without one, and
  /// orders that were not submitted.
  func resume() throws {
    for (name, outcome) in DecisionLog.read(context.files) { outcomes.know(name, outcome) }
    let history = try SubmissionLog.read(in: HeldFolder.following(context.files.folder))
    let tasks = ConcurrentRuns.Run.tasks(history, context.system)
    // Orders of earlier processes, ascending. The last order of a capture counts.
    let orders = try context.files.orderNumbers.compactMap { try context.files.order($0) }
    let last = Dictionary(
      orders.flatMap { order in order.captures.map { ($0.name, order.number) } },
      uniquingKeysWith: max)
    // Array tasks without retries stand for those of the first round.
    firstCount = orders.count { $0.captures.allSatisfy { $0.history.attempts == 1 } }
    decider.resume(
      retriedCount: orders.reduce(0) { $0 + $1.captures.count { $0.history.attempts > 1 } })
    let now = context.clock.monotonicSeconds()
    let open = orders.compactMap { order -> LiveElement? in
      let captures = order.captures.filter {
        last[$0.name] == order.number && !outcomes.hasEnded($0.name)
      }
      if captures.isEmpty { return nil }
      var element = LiveElement(number: order.number, request: order.request, captures: captures)
      element.task = tasks[order.number]
      element.submittedSeconds = now
      return element
    }
    elements.resume(open, endedCount: orders.count - open.count)
    submitter.resume(
      history, submittedCount: tasks.count, nextElement: orders.last.map { $0.number + 1 } ?? 0,
      rest: open.filter { $0.task == nil })
    // Captures that were planned but have no order.
    let rest = context.plan.work.filter { last[$0] == nil && !outcomes.hasEnded($0) }
    takeUp(rest.compactMap { context.indices[$0] })
  }

  /// Decides about all tasks that have ended, and submits retries with a follow-up job. Returns
  /// whether the run continues without this process; `false` if it is over or has stopped.
  func concludeOrFollow() -> Bool {
    let clock = context.clock
    // Allows for delayed results and causes of ends.
    let patience = clock.monotonicSeconds() + ElementDecider.lateSeconds
    if isOver || !mayGoOn { return false }
    var follows = false
    repeatRounds(until: {
      let isWaitedFor = elements.all.contains { $0.task != nil && !$0.isFresh }
      follows =
        !isWaitedFor && submitter.isEmpty && !submitter.isUnanswered && !elements.isEmpty
        || clock.monotonicSeconds() > patience && !elements.jobs.isEmpty
      return follows
    }) {
      usleep(200_000)
      return true
    }
    return follows && submitter.follow()
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
  /// Number of lost tasks by node.
  private var losses: [String: Int] = [:]

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

  func noteLoss(on node: String) { losses[node, default: 0] += 1 }

  /// Nodes on which two or more tasks were lost, in alphabetical order.
  var excludedNodes: [String] { losses.filter { $0.value >= 2 }.map(\.key).sorted() }

  /// Removes a task that never started.
  func drop(_ number: Int) { elements[number] = nil }

  func dropAll() { elements = [:] }
}

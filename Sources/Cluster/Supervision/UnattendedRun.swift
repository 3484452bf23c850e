import Captures
import Engine
import Core
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A run whose process ends before its array tasks. Each process restores the state from files,
/// does what is possible now, and submits a follow-up job for the rest.
struct UnattendedRun {
  private let run: ClusterRun
  private let context: ClusterContext

  init(_ run: ClusterRun) {
    self.run = run
    context = run.context
  }

  /// Submits as many tasks as the queue limit allows, and a follow-up job. Returns the IDs of the
  /// arrays; `nil` if the run stopped or the job could not be submitted. The process must then
  /// stay.
  func detach() -> [String]? {
    let (clock, elements, submitter) = (context.clock, run.elements, run.submitter)
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
    run.stopper.reason == nil && !context.interruption.isRequested
  }

  /// Restores a run from its files: captures with a decision, submitted tasks without one, and
  /// orders that were not submitted.
  func resume() throws {
    for (name, outcome) in DecisionLog.read(context.files) { run.outcomes.know(name, outcome) }
    let history = try SubmissionLog.read(in: HeldFolder.following(context.files.folder))
    let tasks = ConcurrentRuns.Run.tasks(context.files, context.system)
    for entry in history.entries {
      if let job = entry.job { run.throttles.note(job, entry.submission.throttle) }
    }
    let known = KnownOrders(OrderFiles(files: context.files))
    run.resume(firstCount: known.firstCount)
    run.decider.resume(retriedCount: known.retriedCount)
    let now = context.clock.monotonicSeconds()
    let open = known.open(where: { !run.outcomes.hasEnded($0) }).map { order, captures in
      var element = LiveElement(number: order.number, request: order.request, captures: captures)
      element.task = tasks[order.number]
      element.submittedSeconds = now
      return element
    }
    run.elements.resume(open, endedCount: known.orders.count - open.count)
    run.submitter.resume(
      history, submittedCount: tasks.count, nextElement: known.nextNumber,
      rest: open.filter { $0.task == nil })
    // Captures that were planned but have no order.
    let rest = context.plan.work.filter { !known.has($0) && !run.outcomes.hasEnded($0) }
    run.planner.takeUp(rest.compactMap { context.indices[$0] })
  }

  /// Decides about all tasks that have ended, and submits retries with a follow-up job. Returns
  /// whether the run continues without this process; `false` if it is over or has stopped.
  func concludeOrFollow() -> Bool {
    let (clock, elements, submitter) = (context.clock, run.elements, run.submitter)
    // Allows for delayed results and causes of ends.
    let patience = clock.monotonicSeconds() + run.decider.lateSeconds
    while !run.isOver, mayGoOn {
      run.round()
      let isWaitedFor = elements.all.contains { $0.task != nil && !$0.isFresh }
      if !isWaitedFor, submitter.isEmpty, !submitter.isUnanswered, !elements.isEmpty {
        return submitter.follow()
      }
      if clock.monotonicSeconds() > patience, !elements.jobs.isEmpty { return submitter.follow() }
      if !run.isOver { usleep(200_000) }
    }
    return false
  }
}

/// The orders that earlier processes of a run wrote. The last order of a capture counts.
struct KnownOrders {
  /// Ascending.
  let orders: [ArrayTaskOrder]
  /// The number of the last order, by capture.
  private let last: [String: Int]

  init(_ files: OrderFiles) { self.init(files.numbers.compactMap(files.read)) }

  /// - Parameter orders: ascending.
  init(_ orders: [ArrayTaskOrder]) {
    self.orders = orders
    last = Dictionary(
      orders.flatMap { order in order.captures.map { ($0.name, order.number) } },
      uniquingKeysWith: max)
  }

  var nextNumber: Int { orders.last.map { $0.number + 1 } ?? 0 }

  /// Number of retries of captures.
  var retriedCount: Int {
    orders.reduce(0) { $0 + $1.captures.count { $0.history.attempts > 1 } }
  }

  /// Number of array tasks without retries, which stand for those of the first round.
  var firstCount: Int { orders.count { $0.captures.allSatisfy { $0.history.attempts == 1 } } }

  func has(_ capture: String) -> Bool { last[capture] != nil }

  /// The orders that are the last ones of open captures, with these captures.
  func open(where isOpen: (String) -> Bool) -> [(ArrayTaskOrder, [ArrayTaskCapture])] {
    orders.compactMap { order in
      let captures = order.captures.filter { last[$0.name] == order.number && isOpen($0.name) }
      return captures.isEmpty ? nil : (order, captures)
    }
  }
}

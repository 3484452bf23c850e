import Captures
import Output
import Pipeline
import Runner
import Storage
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A run whose process ends before its elements do: each process of it takes up what the files say, does what can be
/// done now, and leaves the rest to a job behind the elements.
struct UnattendedRun {
  private let run: ClusterRun
  private let context: ClusterContext

  init(_ run: ClusterRun) {
    self.run = run
    context = run.context
  }

  /// Submits what there is room for, and a job behind it that goes on with the run. The ids of the arrays;
  /// `nil` when it stopped, or could not submit that job: then somebody must stay.
  func detach() -> [String]? {
    let (clock, elements, submitter) = (context.clock, run.elements, run.submitter)
    let patience = clock.monotonicSeconds() + min(60, context.limits.patienceSeconds)
    while !submitter.isEmpty, mayGoOn {
      let now = clock.monotonicSeconds()
      let before = submitter.submittedCount
      let wasUnanswered = submitter.isUnanswered
      submitter.submit(atSeconds: now)
      let hasRoom = elements.submittedCount < context.limits.maxQueued
      // What is in the queue must end before there is room for more: the round submits it.
      if submitter.submittedCount == before, !elements.jobs.isEmpty, !submitter.isUnanswered,
        !wasUnanswered, !hasRoom || submitter.isDownToOne || now > patience
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

  /// Takes up a run where its files say it stands: captures that were decided, elements that were submitted
  /// and not decided about, orders that were written and not submitted.
  func resume() throws {
    for (name, outcome) in DecisionLog.read(context.files) { run.ledger.know(name, outcome) }
    let history = try SubmissionLog.read(in: HeldFolder.following(context.files.folder))
    let tasks = ConcurrentRuns.Run.tasks(context.files, context.system)
    for entry in history.entries {
      if let job = entry.job { run.throttles.note(job, entry.submission.throttle) }
    }
    let known = KnownOrders(OrderFiles(files: context.files))
    run.resume(firstCount: known.firstCount)
    run.decider.resume(retriedCount: known.retriedCount)
    let now = context.clock.monotonicSeconds()
    let open = known.open(where: { !run.ledger.hasEnded($0) }).map { order, captures in
      var element = LiveElement(number: order.number, request: order.request, captures: captures)
      element.task = tasks[order.number]
      element.submittedSeconds = now
      return element
    }
    run.elements.resume(open, endedCount: known.orders.count - open.count)
    run.submitter.resume(
      history, submittedCount: tasks.count, nextElement: known.nextNumber,
      rest: open.filter { $0.task == nil })
    // Captures that were planned and never came to an order.
    let rest = context.plan.work.filter { !known.has($0) && !run.ledger.hasEnded($0) }
    run.planner.takeUp(rest.compactMap { context.indices[$0] })
  }

  /// Decides about everything that has ended, and submits what is to be tried again with a job behind it.
  /// Whether the run goes on without this process; `false`: it is over, or has stopped.
  func concludeOrFollow() -> Bool {
    let (clock, elements, submitter) = (context.clock, run.elements, run.submitter)
    // For what shows late, and causes that come late.
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

/// The orders of a run that earlier processes wrote. Of all orders of a capture the last one counts.
struct KnownOrders {
  /// Ascending.
  let orders: [ArrayTaskOrder]
  /// The number of a capture's last order.
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

  /// How often captures were tried again.
  var retriedCount: Int {
    orders.reduce(0) { $0 + $1.captures.count { $0.history.attempts > 1 } }
  }

  /// Elements of the first round.
  var firstCount: Int { orders.count { $0.captures.allSatisfy { $0.history.attempts == 1 } } }

  func has(_ capture: String) -> Bool { last[capture] != nil }

  /// Orders with captures of which they are the last and that are still open, with these.
  func open(where isOpen: (String) -> Bool) -> [(ArrayTaskOrder, [ArrayTaskCapture])] {
    orders.compactMap { order in
      let captures = order.captures.filter { last[$0.name] == order.number && isOpen($0.name) }
      return captures.isEmpty ? nil : (order, captures)
    }
  }
}

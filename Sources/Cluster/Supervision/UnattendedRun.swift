import Captures
import Core
import Engine
import FoundationEssentials
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
    let tasks = ConcurrentRuns.Run.tasks(history, context.system)
    for entry in history.entries {
      if let job = entry.job { run.throttles.note(job, entry.submission.throttle) }
    }
    let known = try KnownOrders(OrderFiles(files: context.files))
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

  init(_ files: OrderFiles) throws {
    self.init(try files.numbers.compactMap { try files.read($0) })
  }

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

/// The files with the orders of array tasks.
struct OrderFiles {
  let files: RunFiles

  /// Writes orders. Each file is complete or does not exist.
  func write(_ orders: [ArrayTaskOrder]) throws {
    let folder = try HeldFolder.following(files.folder).makeFolder(RunFiles.ordersName)
    for order in orders {
      let name = RunFiles.orderName(order.number)
      try folder.makeFolder(name.folder).replace(
        name.file, with: try JSONText.canonical(order), durably: false)
    }
    // The batch system starts the tasks on other machines, which read the orders; a crash of this
    // machine must not lose them.
    try folder.flushFileSystem()
  }

  /// The order of an array task; `nil` if it does not exist or cannot be decoded.
  func read(_ number: Int) throws(FileError) -> ArrayTaskOrder? {
    let name = RunFiles.orderName(number)
    guard
      let bytes = try HeldFolder.following(files.folder).folder(RunFiles.ordersName)?
        .folder(name.folder)?.contents(of: name.file)
    else { return nil }
    return try? JSONDecoder().decode(ArrayTaskOrder.self, from: Data(bytes))
  }

  /// Numbers of the existing orders, ascending. Throws where they cannot be listed: what is not known of is
  /// submitted again, under numbers that are taken.
  var numbers: [Int] {
    get throws(FileError) {
      guard let folder = try HeldFolder.following(files.folder).folder(RunFiles.ordersName) else {
        return []
      }
      var found: [Int] = []
      for name in try folder.names() {
        for file in try folder.folder(name)?.names() ?? [] where file.hasSuffix(".json") {
          if let number = Int(file.dropLast(5)) { found.append(number) }
        }
      }
      return found.sorted()
    }
  }
}

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
  func begin(
    _ work: [Int], past: [Int], planned: Set<String>
  ) throws(FileError) -> Int {
    let targets = context.targets
    let others = try held.find(among: Set(work.map { targets[$0].layout.name }))
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

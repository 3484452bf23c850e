import Output
import Pipeline
import Runner
import Storage

/// Makes elements of captures and hands them to the batch system as arrays, as there is room.
///
/// Owns the orders, the log of submissions with its numbers, and what waits to be submitted. Planning and deciding give
/// it groups of captures; the round has it submit, a detached run also the job that goes on after it.
final class ArraySubmitter {
  private let context: ClusterContext
  private let elements: LiveElements
  private let ledger: ClusterLedger
  private let held: HeldCaptures
  private let query: SchedulerQuery
  private let throttles: ThrottleSharing
  private let losses: NodeLosses
  private let reporter: ClusterReporter
  private let stopper: ClusterStopper
  private let silence: SilenceClock
  private let orders: OrderFiles
  private let log: SubmissionLog
  /// Numbers of elements that wait to be submitted, consecutive and alike in each.
  private var unsubmitted: [ArrayPlan] = []
  private var nextElement = 0
  private var nextSubmission = 1
  /// How many elements an array may have now: less after the site refused more.
  private var mostAtOnce: Int
  private var nextSeconds = 0.0
  /// A submission that the batch system has not answered, and how often its name was not found since.
  private var unanswered: (submission: Submission, looks: Int)?
  /// Ids of the arrays, in the order in which they were submitted.
  private(set) var jobs: [String] = []
  /// Elements that were submitted.
  private(set) var submittedCount = 0

  /// What the round of a detached run asks for: it reads results and writes a report.
  private static let roundRequest = JobRequest(
    cores: 1, memoryBytes: 500_000_000, timeSeconds: 1800)

  init(
    _ context: ClusterContext, _ log: SubmissionLog, elements: LiveElements,
    ledger: ClusterLedger, held: HeldCaptures, query: SchedulerQuery, throttles: ThrottleSharing,
    losses: NodeLosses, reporter: ClusterReporter, stopper: ClusterStopper, silence: SilenceClock
  ) {
    self.context = context
    self.log = log
    self.elements = elements
    self.ledger = ledger
    self.held = held
    self.query = query
    self.throttles = throttles
    self.losses = losses
    self.reporter = reporter
    self.stopper = stopper
    self.silence = silence
    orders = OrderFiles(files: context.files)
    mostAtOnce = min(context.site.maxArraySize, context.limits.maxQueued)
  }

  /// Whether nothing waits to be submitted.
  var isEmpty: Bool { unsubmitted.isEmpty }
  /// Whether the batch system has not said whether it took the last array.
  var isUnanswered: Bool { unanswered != nil }
  /// Whether the site refuses arrays of more than one element now.
  var isDownToOne: Bool { mostAtOnce == 1 }

  // MARK: Elements

  /// Makes elements of captures, one of each group, and puts them into the queue for submission: orders
  /// are written, arrays of those with equal requests formed.
  func add(_ groups: [ArrayTaskGroup]) {
    guard !groups.isEmpty else { return }
    let arrays = Grouping.arrays(
      of: groups.map(\.plan), first: nextElement, maxArraySize: context.site.maxArraySize)
    var made: [LiveElement] = []
    for array in arrays {
      for number in array.elements {
        let group = groups[number - nextElement]
        // All of an array ask for the same.
        var element = LiveElement(
          number: number, request: array.request, captures: group.captures)
        element.expectedSeconds = group.plan.costSeconds
        made.append(element)
      }
    }
    do {
      try orders.write(made.map(order))
    } catch {
      stopper.stop(.configuration("orders of elements cannot be written: \(error)"))
      return
    }
    nextElement += groups.count
    elements.add(made)
    unsubmitted += arrays
  }

  private func order(_ element: LiveElement) -> ArrayTaskOrder {
    let plan = context.plan
    var options = plan.options
    // What has run in this run is not forced once more by a second element.
    if let done = element.captures.first?.history.done, !done.isEmpty, element.captures.count == 1 {
      options.selection.forced.subtract(done)
      if options.selection.forceAll {
        options.selection.forceAll = false
        options.selection.forced = Set(context.batch.pipeline.stages.map(\.name)).subtracting(done)
      }
    }
    var order = ArrayTaskOrder(
      run: plan.run, number: element.number, nonce: plan.nonce, program: plan.program,
      programDigest: plan.programDigest, pipeline: plan.pipeline, options: options,
      workingFolder: plan.workingFolder, graceSeconds: plan.graceSeconds,
      killWaitSeconds: Double(context.site.killWaitSeconds), request: element.request,
      captures: element.captures, probesLocks: element.number < 3)
    order.usesScratch = plan.profile.scratch == .intermediates
    order.hasSetup = !plan.profile.setup.isEmpty
    return order
  }

  /// Takes up what an earlier process of the run has left.
  ///
  /// - Parameters:
  ///   - history: its submissions.
  ///   - submittedCount: how many elements those had.
  ///   - nextElement: the number of the next element.
  ///   - rest: elements with an order that were not submitted, ascending.
  func resume(
    _ history: SubmissionHistory, submittedCount: Int, nextElement: Int, rest: [LiveElement]
  ) {
    nextSubmission = history.nextNumber
    jobs = history.entries.filter { $0.submission.count > 0 }.compactMap(\.job)
    self.submittedCount = submittedCount
    self.nextElement = nextElement
    for element in rest {
      let number = element.number
      if let before = unsubmitted.last, before.elements.upperBound == number,
        before.request == element.request, before.elements.count < context.site.maxArraySize
      {
        unsubmitted[unsubmitted.count - 1].elements = before.elements.lowerBound..<number + 1
      } else {
        unsubmitted.append(ArrayPlan(elements: number..<number + 1, request: element.request))
      }
    }
  }

  /// Submits nothing of what waits any more.
  func dropAll() { unsubmitted = [] }

  // MARK: Submission

  /// Hands the next array over, if there is room and it is time: at most one in a second.
  func submit(atSeconds now: Double) {
    guard !context.interruption.isRequested, !ledger.hasCancelledWaiting, now >= nextSeconds else {
      return
    }
    if unanswered != nil { return findUnanswered(now) }
    guard let array = unsubmitted.first else { return }
    let room = context.limits.maxQueued - elements.submittedCount
    guard room > 0 else { return }
    let count = min(array.elements.count, mostAtOnce, room)
    nextSeconds = now + 1
    var submission = submission(
      comment: "scanmill \(context.plan.run)", first: array.elements.lowerBound, count: count,
      request: array.request, arguments: [])
    submission.throttle = throttles.throttle(forCount: count)
    submission.excludedNodes = losses.excludedNodes
    do {
      try log.intend(submission)
    } catch {
      stopper.stop(.configuration("the submission cannot be noted: \(error)"))
      return
    }
    switch context.system.submit(submission) {
    case .accepted(let job): accept(submission, job, now)
    case .full(let words):
      try? log.gone(submission.number, why: words)
      // As much as there may be room for now; it grows again with what is taken.
      mostAtOnce = max(1, count / 2)
      if count == 1 { nextSeconds = now + context.limits.pollSeconds }
      reporter.full(words)
    case .refused(let words):
      try? log.gone(submission.number, why: words)
      stopper.stop(.configuration("sbatch refused the elements: \(words)"))
    case .silent(let words):
      _ = silence.note(atSeconds: now)
      unanswered = (submission, 0)
      nextSeconds = now + context.limits.pollSeconds
      // Before anything was submitted nobody waits for it: the next run finds it by its name.
      guard submittedCount == 0, held.jobs.isEmpty else { return }
      findUnanswered(now)
      if unanswered != nil { stopper.stop(.unreachable(words, elements: 0)) }
    }
  }

  /// The next submission; each has a number and a name of its own.
  private func submission(
    comment: String, first: Int, count: Int, request: JobRequest, arguments: [String]
  ) -> Submission {
    let plan = context.plan
    let number = nextSubmission
    nextSubmission += 1
    return Submission(
      number: number, name: "scanmill-\(plan.run)-\(number)", comment: comment,
      firstElement: first, count: count, throttle: nil, request: request,
      runFolder: context.files.run, output: plan.options.output, program: plan.programPath,
      arguments: arguments)
  }

  /// The batch system may have taken the array that it did not answer about: its name tells. Not found
  /// twice: it has not.
  private func findUnanswered(_ now: Double) {
    guard let (submission, looks) = unanswered else { return }
    nextSeconds = now + context.limits.pollSeconds
    switch context.system.jobs(named: submission.name) {
    case .jobs(let jobs):
      if let job = jobs.first {
        unanswered = nil
        accept(submission, job, now)
      } else if looks >= 1 {
        unanswered = nil
        try? log.gone(submission.number, why: "not found by its name")
      } else {
        unanswered = (submission, looks + 1)
      }
    case .silent(let words):
      if silence.seconds(atSeconds: now) >= context.limits.patienceSeconds {
        stopper.stop(.unreachable(words, elements: elements.submittedCount))
      }
    }
  }

  private func accept(_ submission: Submission, _ job: String, _ now: Double) {
    // Without this line the next run finds it by its name.
    try? log.accepted(submission.number, job: job)
    jobs.append(job)
    throttles.note(job, submission.throttle)
    mostAtOnce = min(
      context.site.maxArraySize, context.limits.maxQueued, max(1, mostAtOnce) * 2)
    submittedCount += submission.count
    for index in 0..<submission.count {
      elements.update(submission.firstElement + index) {
        $0.task = TaskID(job: job, index: index)
        $0.submittedSeconds = now
        $0.isFresh = true
      }
    }
    if var array = unsubmitted.first {
      let next = min(submission.firstElement + submission.count, array.elements.upperBound)
      array.elements = next..<array.elements.upperBound
      if array.elements.isEmpty { unsubmitted.removeFirst() } else { unsubmitted[0] = array }
    }
    silence.end()
    query.postpone(toSeconds: now + context.limits.pollSeconds)
  }

  // MARK: The job that follows

  /// Submits the job that goes on once all arrays that are known have ended. `false` when that failed.
  func follow() -> Bool {
    let after = elements.jobs
    var submission = submission(
      comment: "scanmill \(context.plan.run): goes on when its elements have ended",
      first: nextElement, count: 0, request: Self.roundRequest,
      arguments: ["conclude", context.files.run.text])
    submission.after = after
    guard (try? log.intend(submission)) != nil else { return false }
    switch context.system.submit(submission) {
    case .accepted(let job):
      try? log.accepted(submission.number, job: job)
      return true
    case .full(let words), .refused(let words):
      try? log.gone(submission.number, why: words)
    case .silent:
      if case .jobs(let found) = context.system.jobs(named: submission.name), let job = found.first
      {
        try? log.accepted(submission.number, job: job)
        return true
      }
    }
    return false
  }
}

/// On which nodes elements were lost. Deciding notes it, submission leaves such nodes out.
final class NodeLosses {
  private var counts: [String: Int] = [:]

  func note(_ node: String) { counts[node, default: 0] += 1 }

  /// Nodes that lost two elements or more, in alphabetical order.
  var excludedNodes: [String] { counts.filter { $0.value >= 2 }.map(\.key).sorted() }
}

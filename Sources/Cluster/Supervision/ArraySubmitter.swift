import Captures
import Core
import Engine

/// Creates array tasks from captures and submits them as arrays, as far as the queue limit allows.
///
/// Owns the orders, the log of submissions with its numbers, and the tasks to be submitted.
/// `ClusterRun` and `ElementDecider` add groups of captures. `ClusterRun.round` submits, and redistributes shares of
/// tasks that have ended; a detached run also submits its follow-up job.
final class ArraySubmitter {
  private let context: ClusterContext
  private let outcomes: CaptureOutcomes
  private let others: ConcurrentRuns
  private let query: SchedulerQuery
  private let reporter: ClusterReporter
  private let log: SubmissionLog
  /// Tasks to be submitted. Each entry has consecutive numbers and one request.
  private var unsubmitted: [ArrayPlan] = []
  private var nextElement = 0
  private var nextSubmission = 1
  /// How many tasks an array may have now. Reduced after the site refused more.
  private var mostAtOnce: Int
  private var nextSeconds = 0.0
  /// How many tasks of each array may run at a time; arrays without an entry are unlimited. The batch system limits each
  /// array separately, so the run's limit of running array tasks is distributed among its arrays.
  private var throttles: [String: Int] = [:]
  private var nextShareSeconds = 0.0
  /// A submission without an answer, and how many searches for its name have found nothing.
  private var unanswered: (submission: Submission, looks: Int)?
  /// IDs of the arrays, in order of submission.
  private(set) var jobs: [String] = []
  /// Number of submitted tasks.
  private(set) var submittedCount = 0

  /// The request of a follow-up job, which reads results and writes a report.
  private static let roundRequest = JobRequest(
    cores: 1, memoryBytes: 500_000_000, timeSeconds: 1800)

  init(
    _ context: ClusterContext, _ log: SubmissionLog, _ outcomes: CaptureOutcomes,
    _ others: ConcurrentRuns, _ query: SchedulerQuery, _ reporter: ClusterReporter
  ) {
    self.context = context
    self.log = log
    self.outcomes = outcomes
    self.others = others
    self.query = query
    self.reporter = reporter
    mostAtOnce = min(context.site.maxArraySize, context.limits.maxQueued)
  }

  private var elements: LiveElements { context.elements }
  private var stopper: ClusterStopper { context.stopper }

  /// Whether no task is left to be submitted.
  var isEmpty: Bool { unsubmitted.isEmpty }
  /// Whether it is unknown if the batch system accepted the last array.
  var isUnanswered: Bool { unanswered != nil }
  /// Whether the site currently refuses arrays of more than one task.
  var isDownToOne: Bool { mostAtOnce == 1 }

  // MARK: Array tasks

  /// Creates one array task per group: writes the orders, and queues arrays of tasks with equal
  /// requests for submission.
  func add(_ groups: [ArrayTaskGroup]) {
    guard !groups.isEmpty else { return }
    let arrays = Grouping.arrays(
      of: groups, first: nextElement, maxArraySize: context.site.maxArraySize)
    var made: [LiveElement] = []
    for array in arrays {
      for number in array.elements {
        let group = groups[number - nextElement]
        // All tasks of an array have the same request.
        var element = LiveElement(
          number: number, request: array.request, captures: group.captures)
        element.expectedSeconds = group.costSeconds
        made.append(element)
      }
    }
    do {
      try context.files.write(made.map(order))
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
    // A second array task does not force the stages that already ran in this run.
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

  /// Restores the state that an earlier process of the run has left.
  ///
  /// - Parameters:
  ///   - history: its submissions.
  ///   - submittedCount: number of tasks in them.
  ///   - nextElement: the number of the next task.
  ///   - rest: tasks with an order that were not submitted, ascending.
  func resume(
    _ history: SubmissionHistory, submittedCount: Int, nextElement: Int, rest: [LiveElement]
  ) {
    nextSubmission = history.nextNumber
    jobs = history.entries.filter { $0.submission.count > 0 }.compactMap(\.job)
    for entry in history.entries {
      if let job = entry.job { throttles[job] = entry.submission.throttle }
    }
    self.submittedCount = submittedCount
    self.nextElement = nextElement
    for element in rest {
      let number = element.number
      if let before = unsubmitted.last, before.elements.upperBound == number,
        before.request == element.request, before.elements.count < context.site.maxArraySize
      {
        unsubmitted[unsubmitted.count - 1].elements = before.elements.lowerBound..<number + 1
      } else {
        unsubmitted.append((number..<number + 1, element.request))
      }
    }
  }

  /// Discards all tasks that have not been submitted.
  func dropAll() { unsubmitted = [] }

  // MARK: Submission

  /// Submits the next array if the queue limit allows and it is time. At most one per second.
  func submit(atSeconds now: Double) {
    guard !context.interruption.isRequested, !outcomes.hasCancelledWaiting, now >= nextSeconds
    else {
      return
    }
    if unanswered != nil { return findUnanswered(now) }
    guard let array = unsubmitted.first else { return }
    let available = context.limits.maxQueued - elements.submittedCount
    guard available > 0 else { return }
    let count = min(array.elements.count, mostAtOnce, available)
    nextSeconds = now + 1
    var submission = submission(
      comment: "scanmill \(context.plan.run)", first: array.elements.lowerBound, count: count,
      request: array.request, arguments: [])
    submission.throttle = throttle(forCount: count)
    submission.excludedNodes = elements.excludedNodes
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
      // The next attempt is half as large. The size doubles with each accepted array.
      mostAtOnce = max(1, count / 2)
      if count == 1 { nextSeconds = now + context.limits.pollSeconds }
      reporter.full(words)
    case .refused(let words):
      try? log.gone(submission.number, why: words)
      stopper.stop(.configuration("sbatch refused the elements: \(words)"))
    case .silent(let words):
      stopper.noteSilence(atSeconds: now)
      unanswered = (submission, 0)
      nextSeconds = now + context.limits.pollSeconds
      // If nothing has been submitted yet, the run stops rather than waits. The next run can find
      // the array by its name.
      guard submittedCount == 0, others.jobs.isEmpty else { return }
      findUnanswered(now)
      if unanswered != nil { stopper.stop(.unreachable(words, elements: 0)) }
    }
  }

  /// A new submission with its own number and name.
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

  /// Searches by name for an array that was submitted without an answer. After two searches without
  /// a result it counts as not accepted.
  private func findUnanswered(_ now: Double) {
    guard let (submission, looks) = unanswered else { return }
    nextSeconds = now + context.limits.pollSeconds
    switch context.system.jobs(named: submission.name) {
    case .known(let jobs):
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
      if stopper.silenceSeconds(atSeconds: now) >= context.limits.patienceSeconds {
        stopper.stop(.unreachable(words, elements: elements.submittedCount))
      }
    }
  }

  private func accept(_ submission: Submission, _ job: String, _ now: Double) {
    // If this line cannot be written, the next run finds the array by its name.
    try? log.accepted(submission.number, job: job)
    jobs.append(job)
    throttles[job] = submission.throttle
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
    stopper.noteAnswer()
    query.postpone(toSeconds: now + context.limits.pollSeconds)
  }

  // MARK: Follow-up job

  /// Submits the job that continues the run after all known arrays have ended. `false` if that
  /// failed.
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
      if case .known(let found) = context.system.jobs(named: submission.name), let job = found.first
      {
        try? log.accepted(submission.number, job: job)
        return true
      }
    }
    return false
  }

  // MARK: Throttles

  /// The throttle for a new array of `count` tasks; `nil` if it needs none.
  private func throttle(forCount count: Int) -> Int? {
    let others = elements.unsubmittedCount - count
    let (jobs, shares) = shares(with: [count, max(0, others)])
    let share = shares[jobs.count]
    return share >= count ? nil : share
  }

  /// Gives unused shares to arrays that need them. At most one change per interval; reductions come
  /// first, so that the limit is exceeded for one interval at most.
  func shareOut(atSeconds now: Double) {
    guard now >= nextShareSeconds, !throttles.isEmpty else { return }
    nextShareSeconds = now + max(5, context.limits.pollSeconds)
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

/// What all parts of a run on a batch system share.
struct ClusterContext {
  let batch: BatchRun
  let plan: ClusterPlan
  let files: RunFiles
  let system: SlurmSystem
  let site: Site
  let events: any EventSink
  let interruption: Interruption
  let clock: RunClock
  /// Captures of the run, in order.
  let targets: [CaptureTarget]
  /// Index in `targets` by the name of the capture's output folder; the first if several have the
  /// same name.
  let indices: [String: Int]
  let elements = LiveElements()
  let stopper = ClusterStopper()

  init(
    _ batch: BatchRun, _ plan: ClusterPlan, _ files: RunFiles, _ system: SlurmSystem, _ site: Site,
    _ targets: [CaptureTarget], events: any EventSink, interruption: Interruption, clock: RunClock
  ) {
    (self.batch, self.plan, self.files, self.system) = (batch, plan, files, system)
    (self.site, self.targets, self.clock) = (site, targets, clock)
    (self.events, self.interruption) = (events, interruption)
    indices = Dictionary(firstOf: targets.enumerated().map { ($0.element.layout.name, $0.offset) })
  }

  var limits: ClusterLimits { plan.limits }
}

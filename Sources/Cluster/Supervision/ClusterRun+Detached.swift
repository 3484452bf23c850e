import Captures
import Output
import Pipeline
import Runner
import Storage
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

extension ClusterRun {
  /// What the round of a detached run asks for: it reads results and writes a report.
  private static let roundRequest = JobRequest(
    cores: 1, memoryBytes: 500_000_000, timeSeconds: 1800)

  /// Submits what there is room for, and a job behind it that goes on with the run. The ids of the arrays;
  /// `nil` when it stopped, or could not submit that job: then somebody must stay.
  func detach() -> [String]? {
    let patience = clock.monotonicSeconds() + min(60, plan.limits.patienceSeconds)
    while !unsubmitted.isEmpty, stop == nil, !interruption.isRequested {
      let now = clock.monotonicSeconds()
      let before = figures.submitted
      let wasUnanswered = unanswered != nil
      submit(now)
      let hasRoom = elements.values.count { $0.task != nil } < plan.limits.maxQueued
      // What is in the queue must end before there is room for more: the round submits it.
      if figures.submitted == before, !liveJobs.isEmpty, unanswered == nil, !wasUnanswered,
        !hasRoom || mostAtOnce == 1 || now > patience
      {
        break
      }
      if !unsubmitted.isEmpty { usleep(100_000) }
    }
    guard stop == nil, !interruption.isRequested, follow() else { return nil }
    return figures.jobs
  }

  /// Submits the job that goes on once all arrays that are known have ended. `false` when that failed.
  func follow() -> Bool {
    let jobs = liveJobs
    var submission = Submission(
      number: nextSubmission, name: "scanmill-\(plan.run)-\(nextSubmission)",
      comment: "scanmill \(plan.run): goes on when its elements have ended",
      firstElement: nextNumber,
      count: 0, throttle: nil, request: Self.roundRequest, runFolder: files.run,
      output: plan.options.output, program: plan.programPath,
      arguments: ["conclude", files.run.text])
    submission.after = jobs
    nextSubmission += 1
    guard (try? submissions.intend(submission)) != nil else { return false }
    switch system.submit(submission) {
    case .accepted(let job):
      try? submissions.accepted(submission.number, job: job)
      return true
    case .full(let words), .refused(let words):
      try? submissions.gone(submission.number, why: words)
    case .silent:
      if case .jobs(let found) = system.jobs(named: submission.name), let job = found.first {
        try? submissions.accepted(submission.number, job: job)
        return true
      }
    }
    return false
  }

  /// Takes up a run where its files say it stands: captures that were decided, elements that were submitted
  /// and not decided about, orders that were written and not submitted.
  func resume() throws {
    let decided = DecisionLog.read(files)
    for (name, outcome) in decided {
      guard let index = indices[name] else { continue }
      ended[name] = !outcome.hasFailed
      ledger.know(index, outcome)
    }
    let history = try SubmissionLog.read(in: HeldFolder.following(files.folder))
    nextSubmission = history.nextNumber
    let tasks = ConcurrentRuns.Run.tasks(files, system)
    figures.jobs = history.entries.filter { $0.submission.count > 0 }.compactMap(\.job)
    figures.submitted = tasks.count
    for entry in history.entries {
      if let job = entry.job { throttles[job] = entry.submission.throttle }
    }
    // Of all orders of a capture the last one counts.
    var last: [String: Int] = [:]
    var known: [Int: ArrayTaskOrder] = [:]
    for number in orders.numbers {
      guard let order = orders.read(number) else { continue }
      nextNumber = max(nextNumber, number + 1)
      known[number] = order
      for capture in order.captures {
        last[capture.name] = max(number, last[capture.name] ?? number)
        if capture.history.attempts > 1 { figures.retried += 1 }
      }
    }
    figures.elements = known.values.count { $0.captures.allSatisfy { $0.history.attempts == 1 } }
    for (number, order) in known.sorted(by: { $0.key < $1.key }) {
      let captures = order.captures.filter { last[$0.name] == number && ended[$0.name] == nil }
      if captures.isEmpty { continue }
      var element = LiveElement(number: number, request: order.request, captures: captures)
      element.task = tasks[number]
      element.submittedSeconds = clock.monotonicSeconds()
      elements[number] = element
      if tasks[number] == nil {
        unsubmitted.append(ArrayPlan(elements: number..<number + 1, request: order.request))
      }
    }
    elementsEnded = known.count - elements.count
    joinUnsubmitted()
    // Captures that were planned and never came to an order.
    let planned = Set(last.keys)
    takeUp(
      plan.work.filter { !planned.contains($0) && ended[$0] == nil }.compactMap { indices[$0] })
  }

  private func joinUnsubmitted() {
    var joined: [ArrayPlan] = []
    for array in unsubmitted {
      if let before = joined.last, before.elements.upperBound == array.elements.lowerBound,
        before.request == array.request, before.elements.count < site.maxArraySize
      {
        joined[joined.count - 1].elements =
          before.elements.lowerBound..<array.elements.upperBound
      } else {
        joined.append(array)
      }
    }
    unsubmitted = joined
  }

  /// Decides about everything that has ended, and submits what is to be tried again with a job behind it.
  /// Whether the run goes on without this process; `false`: it is over, or has stopped.
  func concludeOrFollow() -> Bool {
    // For what shows late, and causes that come late.
    let patience =
      clock.monotonicSeconds() + judge.limits.visibilitySeconds + judge.limits.causeSeconds
      + judge.limits.goneSeconds
    while !isOver, stop == nil, !interruption.isRequested {
      round()
      let isWaitedFor = elements.values.contains { $0.task != nil && !$0.isFresh }
      if !isWaitedFor, unsubmitted.isEmpty, unanswered == nil, !elements.isEmpty { return follow() }
      if clock.monotonicSeconds() > patience, !liveJobs.isEmpty { return follow() }
      if !isOver { usleep(200_000) }
    }
    return false
  }
}

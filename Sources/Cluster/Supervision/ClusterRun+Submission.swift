import Output
import Pipeline
import Runner
import Storage
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

extension ClusterRun {
  /// Makes elements of captures, one of each group, and puts them into the queue for submission: orders
  /// are written, arrays of those with equal requests formed.
  func add(_ groups: [ArrayTaskGroup]) {
    guard !groups.isEmpty else { return }
    let arrays = Grouping.arrays(
      of: groups.map(\.plan), first: nextNumber, maxArraySize: site.maxArraySize)
    var made: [LiveElement] = []
    for array in arrays {
      for number in array.elements {
        let group = groups[number - nextNumber]
        // All of an array ask for the same.
        made.append(
          LiveElement(number: number, request: array.request, captures: group.captures))
        expectedSeconds[number] = group.plan.costSeconds
      }
    }
    do {
      try orders.write(made.map(order))
    } catch {
      stop = stop ?? .configuration("orders of elements cannot be written: \(error)")
      return
    }
    nextNumber += groups.count
    for element in made { elements[element.number] = element }
    unsubmitted += arrays
  }

  private func order(_ element: LiveElement) -> ArrayTaskOrder {
    var options = plan.options
    // What has run in this run is not forced once more by a second element.
    if let done = element.captures.first?.history.done, !done.isEmpty, element.captures.count == 1 {
      options.selection.forced.subtract(done)
      if options.selection.forceAll {
        options.selection.forceAll = false
        options.selection.forced = Set(batch.pipeline.stages.map(\.name)).subtracting(done)
      }
    }
    var order = ArrayTaskOrder(
      run: plan.run, number: element.number, nonce: plan.nonce, program: plan.program,
      programDigest: plan.programDigest, pipeline: plan.pipeline, options: options,
      workingFolder: plan.workingFolder, graceSeconds: plan.graceSeconds,
      killWaitSeconds: Double(site.killWaitSeconds), request: element.request,
      captures: element.captures, probesLocks: element.number < 3)
    order.usesScratch = plan.profile.scratch == .intermediates
    order.hasSetup = !plan.profile.setup.isEmpty
    return order
  }

  /// Hands the next array over, if there is room and it is time: at most one in a second.
  func submit(_ now: Double) {
    guard !interruption.isRequested, !hasCancelledWaiting, now >= nextSubmitSeconds else { return }
    if unanswered != nil { return findUnanswered(now) }
    guard let array = unsubmitted.first else { return }
    let queued = elements.values.count { $0.task != nil }
    let room = plan.limits.maxQueued - queued
    guard room > 0 else { return }
    let count = min(array.elements.count, mostAtOnce, room)
    nextSubmitSeconds = now + 1
    var submission = Submission(
      number: nextSubmission, name: "scanmill-\(plan.run)-\(nextSubmission)",
      comment: "scanmill \(plan.run)", firstElement: array.elements.lowerBound, count: count,
      throttle: throttle(count), request: array.request, runFolder: files.run,
      output: plan.options.output, program: plan.programPath, arguments: [])
    submission.excludedNodes = losses.filter { $0.value >= 2 }.map(\.key).sorted()
    nextSubmission += 1
    do {
      try submissions.intend(submission)
    } catch {
      stop = stop ?? .configuration("the submission cannot be noted: \(error)")
      return
    }
    switch system.submit(submission) {
    case .accepted(let job): accept(submission, job, now)
    case .full(let words):
      try? submissions.gone(submission.number, why: words)
      // As much as there may be room for now; it grows again with what is taken.
      mostAtOnce = max(1, count / 2)
      if count == 1 { nextSubmitSeconds = now + plan.limits.pollSeconds }
      sayFull(words)
    case .refused(let words):
      try? submissions.gone(submission.number, why: words)
      stop = stop ?? .configuration("sbatch refused the elements: \(words)")
    case .silent(let words):
      silentSince = silentSince ?? now
      unanswered = (submission, 0)
      nextSubmitSeconds = now + plan.limits.pollSeconds
      // Before anything was submitted nobody waits for it: the next run finds it by its name.
      guard figures.submitted == 0, others.jobs.isEmpty else { return }
      findUnanswered(now)
      if unanswered != nil { stop = stop ?? .unreachable(words, elements: 0) }
    }
  }

  /// The batch system may have taken the array that it did not answer about: its name tells. Not found
  /// twice: it has not.
  private func findUnanswered(_ now: Double) {
    guard let (submission, looks) = unanswered else { return }
    nextSubmitSeconds = now + plan.limits.pollSeconds
    switch system.jobs(named: submission.name) {
    case .jobs(let jobs):
      if let job = jobs.first {
        unanswered = nil
        accept(submission, job, now)
      } else if looks >= 1 {
        unanswered = nil
        try? submissions.gone(submission.number, why: "not found by its name")
      } else {
        unanswered = (submission, looks + 1)
      }
    case .silent(let words):
      if now - (silentSince ?? now) >= plan.limits.patienceSeconds {
        stop = stop ?? .unreachable(words, elements: elements.values.count { $0.task != nil })
      }
    }
  }

  private func accept(_ submission: Submission, _ job: String, _ now: Double) {
    // Without this line the next run finds it by its name.
    try? submissions.accepted(submission.number, job: job)
    figures.jobs.append(job)
    throttles[job] = submission.throttle
    mostAtOnce = min(site.maxArraySize, plan.limits.maxQueued, max(1, mostAtOnce) * 2)
    figures.submitted += submission.count
    for index in 0..<submission.count {
      elements[submission.firstElement + index]?.task = TaskID(job: job, index: index)
      elements[submission.firstElement + index]?.submittedSeconds = now
      elements[submission.firstElement + index]?.isFresh = true
    }
    if var array = unsubmitted.first {
      let next = min(submission.firstElement + submission.count, array.elements.upperBound)
      array.elements = next..<array.elements.upperBound
      if array.elements.isEmpty { unsubmitted.removeFirst() } else { unsubmitted[0] = array }
    }
    silentSince = nil
    nextQuerySeconds = max(nextQuerySeconds, now + plan.limits.pollSeconds)
  }

  private func sayFull(_ words: String) {
    guard !isSaidFull else { return }
    isSaidFull = true
    var event = RunEvent(.waiting, time: clock.wallText())
    event.message =
      "the site takes no more elements now (\(words.onOneLine)): smaller arrays, as there is room"
    events.send(event)
  }
}

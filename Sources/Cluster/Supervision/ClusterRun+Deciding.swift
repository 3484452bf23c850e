import Captures
import Output
import Pipeline
import Runner

extension ClusterRun {
  func decide(_ now: Double) {
    var again: [(captures: [ArrayTaskCapture], from: LiveElement)] = []
    var stuck: [String] = []
    for number in elements.keys.sorted() {
      guard var element = elements[number], let task = element.task else { continue }
      look(&element)
      elements[number] = element
      let isEnding = element.end != nil || element.view != nil
      let facts = element.facts(
        task, log: isEnding && element.end == nil ? log(of: task) : [], atSeconds: now)
      switch judge.decide(facts) {
      case .wait: continue
      case .never(let why): stop = stop ?? .configuration(why)
      case .settle(let decisions, let ending):
        elements[number] = nil
        elementsEnded += 1
        // Given up while it waits: nobody would ever take it out of the queue.
        if element.view?.state == .pending, element.end == nil { stuck.append(task.text) }
        workSecondsDone += expectedSeconds[number] ?? 0
        tell(ending, of: element, task)
        let captures = carry(out: decisions, of: element, facts, now)
        if !captures.isEmpty { again.append((captures, element)) }
      }
    }
    if !stuck.isEmpty { system.cancel(stuck, .waiting) }
    if stop == nil { tryAgain(again) }
    checkBreakdowns()
  }

  /// Looks once at what the lines say was published.
  private func look(_ element: inout LiveElement) {
    for (name, line) in element.lines where !element.seen.contains(name) {
      guard let index = indices[name] else { continue }
      let layout = targets[index].layout
      let isThere = line.artifacts.allSatisfy { ArtifactPresence.look(layout, $0) == .there }
      if isThere { element.seen.insert(name) }
    }
  }

  private func carry(
    out decisions: [String: CaptureDecision], of element: LiveElement, _ facts: ArrayTaskFacts,
    _ now: Double
  ) -> [ArrayTaskCapture] {
    var again: [ArrayTaskCapture] = []
    for var capture in element.captures {
      switch decisions[capture.name] {
      case .believe, nil:
        if let line = element.lines[capture.name] { finish(line.outcome, of: element, line) }
      case .later:
        if plan.options.waitsForLocks {
          capture.history.attempts += 1
          later.append((capture, now + max(1, min(30, plan.limits.pollSeconds * 2))))
        } else if let line = element.lines[capture.name] {
          finish(line.outcome, of: element, line)
        }
      case .fail(let why, let cause):
        var outcome =
          element.lines[capture.name]?.outcome
          ?? CaptureOutcome(capture.target.failed(why, cause: cause), codes: [ExitStatus.jobFailed])
        outcome.report.outcome = .failed
        outcome.report.cause = cause
        outcome.report.message = why
        finish(outcome, of: element, element.lines[capture.name])
      case .again(let history, let why):
        capture.history = history
        again.append(capture)
        figures.retried += 1
        var event = RunEvent(.elementRetried, time: clock.wallText(), capture: capture.name)
        event.element = element.number
        event.job = facts.task.text
        event.node = facts.node
        event.message = "\(capture.name): \(why)"
        events.send(event)
      }
    }
    return again
  }

  func finish(_ outcome: CaptureOutcome, of element: LiveElement?, _ line: CaptureLine?) {
    let name = outcome.report.id
    guard let index = indices[name], ended[name] == nil else { return }
    var outcome = outcome
    if let element {
      let history = element.captures.first { $0.name == name }?.history
      outcome.report.attempts = history?.attempts
      outcome.report.job = element.begin?.job ?? element.task?.text
      outcome.report.node = element.begin?.host
      var asked = AskedFor(
        cores: element.request.cores, memoryBytes: element.request.memoryBytes,
        timeSeconds: element.request.timeSeconds)
      if let submitted = element.submittedSeconds, let begun = element.begunSeconds {
        asked.waitedSeconds = max(0, begun - submitted)
      }
      asked.usedSeconds = line?.seconds
      asked.usedMemoryBytes = line?.peakMemoryBytes
      outcome.report.asked = asked
    }
    ended[name] = !outcome.hasFailed
    if element != nil, line != nil, !outcome.hasFailed { hasProcessed = true }
    decisions?.append(name, outcome)
    ledger.finish(index, outcome)
    guard plan.options.failFast, ledger.hasFailed, !hasCancelledWaiting else { return }
    hasCancelledWaiting = true
    system.cancel(liveJobs, .waiting)
  }

  /// Captures that somebody else held, when it is their time.
  func takeUpLater(_ now: Double) {
    let due = later.filter { $0.dueSeconds <= now }
    guard !due.isEmpty, stop == nil else { return }
    later.removeAll { $0.dueSeconds <= now }
    add(due.map { ArrayTaskGroup(again: [$0.capture], plan.limits) })
  }

  private func tryAgain(_ groups: [(captures: [ArrayTaskCapture], from: LiveElement)]) {
    let isForced = plan.options.selection.forceAll || !plan.options.selection.forced.isEmpty
    add(
      groups.flatMap { group in
        // What has run is not forced again, which an order says of all its captures.
        func isAlone(_ capture: ArrayTaskCapture) -> Bool {
          capture.history.isAlone || (isForced && !capture.history.done.isEmpty)
        }
        let alone = group.captures.filter(isAlone)
        let together = group.captures.filter { !isAlone($0) }
        return (alone.map { [$0] } + (together.isEmpty ? [] : [together])).map {
          ArrayTaskGroup(again: $0, plan.limits)
        }
      })
  }

  /// The first three that break alike before any capture was processed stop the run, instead of all of
  /// them.
  private func checkBreakdowns() {
    guard stop == nil, !hasProcessed, let first = breakdowns.first,
      elementsEnded == breakdowns.count, breakdowns.allSatisfy({ $0.how.isLike(first.how) }),
      breakdowns.count >= 3 || elements.isEmpty
    else { return }
    let nodes = Set(breakdowns.map(\.node)).sorted().joined(separator: ", ")
    stop = .configuration(first.how.text(on: nodes))
  }
}

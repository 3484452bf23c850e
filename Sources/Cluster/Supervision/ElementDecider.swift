import Captures
import Engine
import Core

/// Decides about array tasks that have ended (`TaskOutcomeRule`) and applies the decisions:
/// captures end, are retried at once, or are retried later if another process holds them.
///
/// Owns the captures to be retried later, and the breakdowns that can stop the run.
final class ElementDecider {
  private let context: ClusterContext
  private let outcomes: CaptureOutcomes
  private let submitter: ArraySubmitter
  private let reporter: ClusterReporter
  /// Captures to be retried later, with their monotonic due times.
  private var later: [(capture: ArrayTaskCapture, dueSeconds: Double)] = []
  private var breakdowns: [(how: Breakdown, node: String)] = []
  /// Number of retries of captures.
  private(set) var retriedCount = 0

  /// This many array tasks that break in the same way stop the run.
  private static let mostBreakdowns = 3

  init(
    _ context: ClusterContext, _ outcomes: CaptureOutcomes, _ submitter: ArraySubmitter,
    _ reporter: ClusterReporter
  ) {
    self.context = context
    self.outcomes = outcomes
    self.submitter = submitter
    self.reporter = reporter
  }

  private var elements: LiveElements { context.elements }
  private var stopper: ClusterStopper { context.stopper }

  /// Whether no capture waits for a later retry.
  var isEmpty: Bool { later.isEmpty }

  /// The longest total delay of visible results, causes of ends and removal from the queue.
  static let lateSeconds =
    TaskOutcomeRule.visibilitySeconds + TaskOutcomeRule.causeSeconds + TaskOutcomeRule.goneSeconds

  /// Restores the number of retries of earlier processes.
  func resume(retriedCount: Int) { self.retriedCount = retriedCount }

  func decide(atSeconds now: Double) {
    var again: [[ArrayTaskCapture]] = []
    var stuck: [String] = []
    for number in elements.numbers {
      look(number)
      guard let element = elements[number], let task = element.task else { continue }
      let isSilent = element.end == nil && element.view != nil
      let log = isSilent ? LogFile.tail(of: context.files.log(task), lines: 5) : []
      let rule = TaskOutcomeRule(
        element: element, task: task, nowSeconds: now, log: log,
        maxMemoryBytes: context.limits.maxMemoryBytes,
        maxTimeSeconds: context.limits.maxTimeSeconds)
      switch rule.decision {
      case .wait: continue
      case .never(let why): stopper.stop(.configuration(why))
      case .settle(let decisions, let ending):
        elements.settle(number)
        // A pending array task that is given up would stay in the queue forever.
        if element.view?.state == .pending, element.end == nil { stuck.append(task.text) }
        note(ending, of: element)
        reporter.ended(element, task, ending)
        let captures = carry(out: decisions, of: element, task, now)
        if !captures.isEmpty { again.append(captures) }
      }
    }
    if !stuck.isEmpty { context.system.cancel(stuck, .waiting) }
    if stopper.reason == nil { tryAgain(again) }
    checkBreakdowns()
  }

  /// Checks for new lines of an array task whether their artifacts are visible.
  private func look(_ number: Int) {
    elements.update(number) { element in
      guard element.task != nil else { return }
      for (name, line) in element.lines where !element.seen.contains(name) {
        guard let index = context.indices[name] else { continue }
        let layout = context.targets[index].layout
        let isThere = line.artifacts.allSatisfy { ArtifactVisibility.look(layout, $0) == .there }
        if isThere { element.seen.insert(name) }
      }
    }
  }

  private func note(_ ending: ArrayTaskDecision.Ending, of element: LiveElement) {
    switch ending {
    case .ended: break
    case .lost:
      if let node = element.node { elements.noteLoss(on: node) }
    case .broken(let how): breakdowns.append((how, element.nodeName))
    }
  }

  /// Applies the decisions to the captures of `element`. Returns those to be retried now.
  private func carry(
    out decisions: [String: CaptureDecision], of element: LiveElement, _ task: TaskID, _ now: Double
  ) -> [ArrayTaskCapture] {
    var again: [ArrayTaskCapture] = []
    for var capture in element.captures {
      switch decisions[capture.name] {
      case .believe, nil:
        if let line = element.lines[capture.name] {
          outcomes.finish(line.outcome, of: element, line)
        }
      case .later:
        if context.plan.options.waitsForLocks {
          capture.history.attempts += 1
          later.append((capture, now + max(1, min(30, context.limits.pollSeconds * 2))))
        } else if let line = element.lines[capture.name] {
          outcomes.finish(line.outcome, of: element, line)
        }
      case .fail(let why):
        var outcome =
          element.lines[capture.name]?.outcome
          ?? CaptureOutcome(capture.target.failed(why), codes: [ExitStatus.jobFailed])
        (outcome.report.outcome, outcome.report.why) = (.failed, why)
        outcomes.finish(outcome, of: element, element.lines[capture.name])
      case .again(let history, let why):
        capture.history = history
        again.append(capture)
        retriedCount += 1
        reporter.retried(capture.name, of: element, task, why)
      }
    }
    return again
  }

  private func tryAgain(_ groups: [[ArrayTaskCapture]]) {
    let selection = context.plan.options.selection
    let isForced = selection.forceAll || !selection.forced.isEmpty
    submitter.add(
      groups.flatMap { group in
        // Completed stages are not forced again. An order states that for all of its captures, so
        // such a capture needs its own.
        func isAlone(_ capture: ArrayTaskCapture) -> Bool {
          capture.history.isAlone || (isForced && !capture.history.done.isEmpty)
        }
        let alone = group.filter(isAlone)
        let together = group.filter { !isAlone($0) }
        return (alone.map { [$0] } + (together.isEmpty ? [] : [together])).map {
          ArrayTaskGroup($0, context.limits)
        }
      })
  }

  /// Stops the run if its first three array tasks, or all if there are fewer, broke in the same way
  /// before any capture was processed.
  private func checkBreakdowns() {
    guard stopper.reason == nil, !outcomes.hasProcessed, let first = breakdowns.first,
      elements.endedCount == breakdowns.count,
      breakdowns.allSatisfy({ $0.how.isLike(first.how) }),
      breakdowns.count >= Self.mostBreakdowns || elements.isEmpty
    else { return }
    let nodes = Set(breakdowns.map(\.node)).sorted().joined(separator: ", ")
    stopper.stop(.configuration(first.how.text(on: nodes)))
  }

  // MARK: Later retries

  /// Retries captures that another process held, when they are due.
  func takeUpLater(atSeconds now: Double) {
    let due = later.filter { $0.dueSeconds <= now }
    guard !due.isEmpty, stopper.reason == nil else { return }
    later.removeAll { $0.dueSeconds <= now }
    submitter.add(due.map { ArrayTaskGroup([$0.capture], context.limits) })
  }

  /// Discards everything that has not started, after the first failure of a fail-fast run.
  func dropWaiting() {
    for element in elements.all where element.begin == nil {
      if let view = element.view, view.state == .running { continue }
      for capture in element.captures { outcomes.skip(capture.name, .failFast) }
      elements.drop(element.number)
    }
    for capture in later.map(\.capture) { outcomes.skip(capture.name, .failFast) }
    later = []
    submitter.dropAll()
  }
}

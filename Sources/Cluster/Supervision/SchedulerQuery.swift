import Engine

/// Queries the states of array tasks: one query for all arrays together, less often while there are
/// no new results. The round calls it.
///
/// Owns the time of the next query, and why tasks are pending.
final class SchedulerQuery {
  private let context: ClusterContext
  private let others: ConcurrentRuns
  private var nextSeconds = 0.0
  private var nextReasonSeconds = 0.0
  private var pollSeconds: Double
  /// Why tasks are pending, as text; `nil` if unknown or if none is.
  private(set) var waitingReason: String?

  /// While nothing changes, the polling interval grows by half each time, up to this.
  private static let longestPollSeconds = 60.0
  private static let reasonPollSeconds = 60.0
  private static let reasonPatienceSeconds = 300.0

  init(_ context: ClusterContext, _ others: ConcurrentRuns) {
    self.context = context
    self.others = others
    pollSeconds = context.limits.pollSeconds
  }

  private var elements: LiveElements { context.elements }

  /// Resets the interval of queries, because there are new results.
  func noteNews() { pollSeconds = context.limits.pollSeconds }

  /// Makes no query before `toSeconds`, because nothing can have changed until then.
  func postpone(toSeconds: Double) { nextSeconds = max(nextSeconds, toSeconds) }

  /// Makes one query if it is due: for states, or occasionally for reasons of waiting. The next one
  /// is due an interval after the answer.
  func ask(atSeconds now: Double) -> Bool {
    guard now >= nextSeconds else { return false }
    let asking = elements.all.filter {
      $0.isWorthAsking(quietSeconds: context.limits.pollSeconds * 4, atSeconds: now)
    }
    let jobs = Set(asking.compactMap { $0.task?.job }).union(others.jobs)
    guard !jobs.isEmpty else { return false }
    let waiting = jobsWithoutReason(now)
    if !waiting.isEmpty {
      nextReasonSeconds = now + Self.reasonPollSeconds
      askForReasons(waiting, now)
    } else {
      askForStates(jobs, now)
    }
    nextSeconds = context.clock.monotonicSeconds() + pollSeconds
    pollSeconds = min(
      max(Self.longestPollSeconds, context.limits.pollSeconds), pollSeconds * 1.5)
    return true
  }

  private func askForStates(_ jobs: Set<String>, _ now: Double) {
    switch context.system.tasks(of: jobs.sorted()) {
    case .silent(let words):
      context.stopper.noteSilence(atSeconds: now)
      if context.stopper.silenceSeconds(atSeconds: now) >= context.limits.patienceSeconds {
        context.stopper.stop(.unreachable(words, elements: elements.count))
      }
    case .known(let table):
      context.stopper.noteAnswer()
      for number in elements.numbers {
        guard let task = elements[number]?.task, jobs.contains(task.job) else { continue }
        elements.update(number) { $0.see(table[task], isQueue: table.isQueue, atSeconds: now) }
      }
      others.see(table, atSeconds: now)
      noteReason()
    }
  }

  /// Takes the reason of waiting from the states, if they include one.
  private func noteReason() {
    let waiting = elements.waiting
    if waiting.isEmpty {
      waitingReason = nil
    } else if let reason = waiting.compactMap({ $0.view?.reason }).first {
      waitingReason = TaskView.words(ofReason: reason)
    }
  }

  /// Arrays for which a query of reasons is due: tasks have been pending for 5 minutes, or at all
  /// if the polling interval is below 5 s, and none has a reason. Records contain none.
  private func jobsWithoutReason(_ now: Double) -> [String] {
    guard now >= nextReasonSeconds else { return [] }
    let waiting = elements.waiting
    guard !waiting.isEmpty, !waiting.contains(where: { $0.view?.reason != nil }) else { return [] }
    let oldest = waiting.compactMap(\.submittedSeconds).min() ?? now
    guard now - oldest > Self.reasonPatienceSeconds || context.limits.pollSeconds < 5 else {
      return []
    }
    return Set(waiting.compactMap { $0.task?.job }).sorted()
  }

  private func askForReasons(_ jobs: [String], _ now: Double) {
    guard case .known(let table) = context.system.waitingReasons(of: jobs) else { return }
    for number in elements.numbers {
      guard let task = elements[number]?.task, let view = table[task], view.reason != nil else {
        continue
      }
      elements.update(number) { $0.see(view, isQueue: false, atSeconds: now) }
    }
    noteReason()
  }
}

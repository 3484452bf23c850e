import Output
import Pipeline
import Runner

/// Asks the batch system how elements stand: one question at a time for all arrays together, less and less often
/// while nothing is heard. The round calls it.
///
/// Owns when the next question is due, and why elements wait.
final class SchedulerQuery {
  private let context: ClusterContext
  private let elements: LiveElements
  private let held: HeldCaptures
  private let stopper: ClusterStopper
  private let silence: SilenceClock
  private var nextSeconds = 0.0
  private var nextReasonSeconds = 0.0
  private var pollSeconds: Double
  /// Why elements wait in the queue, for people; `nil`: unknown, or none does.
  private(set) var waitingReason: String?

  private static let reasonPollSeconds = 60.0
  private static let reasonPatienceSeconds = 300.0

  init(
    _ context: ClusterContext, _ elements: LiveElements, _ held: HeldCaptures,
    _ stopper: ClusterStopper, _ silence: SilenceClock
  ) {
    self.context = context
    self.elements = elements
    self.held = held
    self.stopper = stopper
    self.silence = silence
    pollSeconds = context.limits.pollSeconds
  }

  /// Elements have written something: questions come as often as at the beginning.
  func noteNews() { pollSeconds = context.limits.pollSeconds }

  /// Nothing can have changed before then.
  func postpone(toSeconds: Double) { nextSeconds = max(nextSeconds, toSeconds) }

  /// Asks one question if it is time: how elements stand, or now and then why they wait. The next one follows an
  /// interval after the answer.
  func ask(atSeconds now: Double) {
    guard now >= nextSeconds else { return }
    let asking = elements.all.filter {
      $0.isWorthAsking(quietSeconds: context.limits.pollSeconds * 4, atSeconds: now)
    }
    let jobs = Set(asking.compactMap { $0.task?.job }).union(held.jobs)
    guard !jobs.isEmpty else { return }
    let waiting = jobsWithoutReason(now)
    if !waiting.isEmpty {
      nextReasonSeconds = now + Self.reasonPollSeconds
      askForReasons(waiting, now)
    } else {
      askForStates(jobs, now)
    }
    nextSeconds = context.clock.monotonicSeconds() + pollSeconds
    pollSeconds = min(
      max(ClusterProfile.longestPollSeconds, context.limits.pollSeconds), pollSeconds * 1.5)
  }

  private func askForStates(_ jobs: Set<String>, _ now: Double) {
    switch context.system.tasks(of: jobs.sorted()) {
    case .silent(let words):
      if silence.note(atSeconds: now) >= context.limits.patienceSeconds {
        stopper.stop(.unreachable(words, elements: elements.count))
      }
    case .table(let table):
      silence.end()
      for number in elements.numbers {
        guard let task = elements[number]?.task, jobs.contains(task.job) else { continue }
        elements.update(number) { $0.see(table[task], isQueue: table.isQueue, atSeconds: now) }
      }
      held.see(table, atSeconds: now)
      noteReason()
    }
  }

  /// What the query of states has told already of why elements wait.
  private func noteReason() {
    let waiting = elements.waiting
    if waiting.isEmpty {
      waitingReason = nil
    } else if let reason = waiting.compactMap({ $0.view?.reason }).first {
      waitingReason = WaitingReason.words(reason)
    }
  }

  /// Arrays of which nothing starts for unknown reasons, when nothing has for a while: records do not say
  /// them.
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
    guard case .table(let table) = context.system.waitingReasons(of: jobs) else { return }
    for number in elements.numbers {
      guard let task = elements[number]?.task, let view = table[task], view.reason != nil else {
        continue
      }
      elements.update(number) { $0.see(view, isQueue: false, atSeconds: now) }
    }
    noteReason()
  }
}

/// How long the batch system has not answered, whatever it was asked. Whoever asks it notes that.
final class SilenceClock {
  private var sinceSeconds: Double?

  /// It did not answer. For how many seconds by now.
  func note(atSeconds now: Double) -> Double {
    let since = sinceSeconds ?? now
    sinceSeconds = since
    return now - since
  }

  /// For how many seconds it has not answered; 0 where it has.
  func seconds(atSeconds now: Double) -> Double { sinceSeconds.map { now - $0 } ?? 0 }

  /// It has answered.
  func end() { sinceSeconds = nil }
}

import Engine
import Core

#if canImport(Glibc)
  import Glibc
#endif

/// Ends all array tasks of an interrupted run: cancels them, reads their last results, and kills
/// those that do not end in time. To be called once.
struct ElementCanceller {
  private let context: ClusterContext
  private let elements: LiveElements
  private let outcomes: CaptureOutcomes
  private let listener: ResultListener

  init(
    _ context: ClusterContext, _ elements: LiveElements, _ outcomes: CaptureOutcomes,
    _ listener: ResultListener
  ) {
    self.context = context
    self.elements = elements
    self.outcomes = outcomes
    self.listener = listener
  }

  /// Waits for the shorter of the interrupt's grace period and the site's KillWait, but at least
  /// one second, then kills the remaining tasks. An abort kills them at once. Discards all array
  /// tasks at the end.
  func cancelAll() {
    let (clock, interruption) = (context.clock, context.interruption)
    let jobs = elements.jobs
    if !jobs.isEmpty { context.system.cancel(jobs, .orderly) }
    let left = interruption.secondsLeft(clock) ?? 10
    let until = clock.monotonicSeconds() + max(1, min(left, Double(context.site.killWaitSeconds)))
    var hasKilled = false
    var isKnownOver = jobs.isEmpty
    var pause = 2.0
    var nextLook = clock.monotonicSeconds() + pause
    while !isKnownOver {
      listener.hearLastWords()
      isKnownOver = elements.all.allSatisfy { $0.begin == nil || $0.end != nil }
      // A killed array task writes no end.
      if !isKnownOver, clock.monotonicSeconds() >= nextLook {
        isKnownOver = areOver(jobs)
        pause *= 1.5
        nextLook = clock.monotonicSeconds() + pause
      }
      let isAborted = interruption.abort.isCancelled
      if !isKnownOver, isAborted || clock.monotonicSeconds() >= until {
        if hasKilled { break }
        hasKilled = true
        context.system.cancel(jobs, .kill)
      }
      if !isKnownOver { usleep(200_000) }
    }
    for element in elements.all {
      for line in element.lines.values where !line.outcome.isLocked {
        outcomes.finish(line.outcome, of: element, line)
      }
    }
    elements.dropAll()
  }

  /// Whether the batch system reports that none of the jobs is pending or running; `false` if it
  /// does not answer.
  private func areOver(_ jobs: [String]) -> Bool {
    guard case .table(let table) = context.system.tasks(of: jobs) else { return false }
    return elements.all.allSatisfy { element in
      guard let task = element.task else { return true }
      switch table[task]?.state {
      case .pending, .running, .unknown: return false
      case nil: return table.isQueue
      default: return true
      }
    }
  }
}

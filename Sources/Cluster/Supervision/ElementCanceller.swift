import Output
import Parallel
import Pipeline
import Runner

#if canImport(Glibc)
  import Glibc
#endif

/// Ends all elements of an interrupted run: cancels what waits, asks what runs to end, hears its last words, kills what
/// is left. An attended run calls it once.
struct ElementCanceller {
  private let context: ClusterContext
  private let elements: LiveElements
  private let ledger: ClusterLedger
  private let listener: ResultListener

  init(
    _ context: ClusterContext, _ elements: LiveElements, _ ledger: ClusterLedger,
    _ listener: ResultListener
  ) {
    self.context = context
    self.elements = elements
    self.ledger = ledger
    self.listener = listener
  }

  /// Takes at most the grace that the interrupt leaves, or as long as the site waits before it kills; then no element
  /// is left.
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
      // One that was killed says nothing any more.
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
        ledger.finish(line.outcome, of: element, line)
      }
    }
    elements.dropAll()
  }

  /// Whether the batch system says that none of these runs or waits; `false` when it says nothing.
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

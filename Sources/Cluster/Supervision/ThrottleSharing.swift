import Output

/// How many elements run at a time is limited per array; what is left of the run's limit is shared out among its
/// arrays. Submission asks for the throttle of each new array, the round lets what has ended be shared out anew.
final class ThrottleSharing {
  private let context: ClusterContext
  private let elements: LiveElements
  /// How many elements of each array may run at a time; an array without an entry is not held back.
  private var throttles: [String: Int] = [:]
  private var nextSeconds = 0.0

  init(_ context: ClusterContext, _ elements: LiveElements) {
    self.context = context
    self.elements = elements
  }

  /// An array has been submitted with this throttle; `nil`: none.
  func note(_ job: String, _ throttle: Int?) { throttles[job] = throttle }

  /// The throttle of an array of `count` elements that is about to be submitted; `nil`: it needs none.
  func throttle(forCount count: Int) -> Int? {
    let others = elements.unsubmittedCount - count
    let (jobs, shares) = shares(with: [count, max(0, others)])
    let share = shares[jobs.count]
    return share >= count ? nil : share
  }

  /// Gives what arrays do not need any more to those that do: one change at most in an interval, less before
  /// more, so that there are never more at work than allowed for longer than that.
  func shareOut(atSeconds now: Double) {
    guard now >= nextSeconds, !throttles.isEmpty else { return }
    nextSeconds = now + max(5, context.limits.pollSeconds)
    let (jobs, shares) = shares(with: [elements.unsubmittedCount])
    var less: (job: String, share: Int)?
    var more: (job: String, share: Int, gain: Int)?
    for (entry, share) in zip(jobs, shares) {
      // Without a throttle all that is left of it may run.
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

  /// How many elements of each array have not ended, and the share that each should have.
  private func shares(with more: [Int]) -> (jobs: [(job: String, left: Int)], shares: [Int]) {
    var left: [String: Int] = [:]
    for element in elements.all {
      if let job = element.task?.job { left[job, default: 0] += 1 }
    }
    let jobs = left.sorted { $0.key < $1.key }.map { (job: $0.key, left: $0.value) }
    return (jobs, Grouping.throttles(context.limits.maxRunning, over: jobs.map(\.left) + more))
  }
}

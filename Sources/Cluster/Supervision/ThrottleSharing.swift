import Engine

/// Distributes the run's limit of running array tasks among its arrays, because the batch system
/// limits each array separately. `ArraySubmitter` gets a throttle for each new array; the round
/// redistributes shares of tasks that have ended.
final class ThrottleSharing {
  private let context: ClusterContext
  private let elements: LiveElements
  /// How many tasks of each array may run at a time; arrays without an entry are unlimited.
  private var throttles: [String: Int] = [:]
  private var nextSeconds = 0.0

  init(_ context: ClusterContext, _ elements: LiveElements) {
    self.context = context
    self.elements = elements
  }

  /// Notes the throttle of a submitted array; `nil` if it has none.
  func note(_ job: String, _ throttle: Int?) { throttles[job] = throttle }

  /// The throttle for a new array of `count` tasks; `nil` if it needs none.
  func throttle(forCount count: Int) -> Int? {
    let others = elements.unsubmittedCount - count
    let (jobs, shares) = shares(with: [count, max(0, others)])
    let share = shares[jobs.count]
    return share >= count ? nil : share
  }

  /// Gives unused shares to arrays that need them. At most one change per interval; reductions come
  /// first, so that the limit is exceeded for one interval at most.
  func shareOut(atSeconds now: Double) {
    guard now >= nextSeconds, !throttles.isEmpty else { return }
    nextSeconds = now + max(5, context.limits.pollSeconds)
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

/// How many elements run at a time is limited by the array; what is left is shared out among arrays.
extension ClusterRun {
  /// How many elements of each array have not ended, and the share that each should have.
  private func shares(with more: [Int] = []) -> (jobs: [(job: String, left: Int)], shares: [Int]) {
    var left: [String: Int] = [:]
    for element in elements.values {
      if let job = element.task?.job { left[job, default: 0] += 1 }
    }
    let jobs = left.sorted { $0.key < $1.key }.map { (job: $0.key, left: $0.value) }
    return (jobs, Grouping.throttles(plan.limits.maxRunning, over: jobs.map(\.left) + more))
  }

  /// The throttle of an array of `count` elements that is about to be submitted; `nil`: it needs none.
  func throttle(_ count: Int) -> Int? {
    let others = elements.values.count { $0.task == nil } - count
    let (jobs, shares) = shares(with: [count, max(0, others)])
    let share = shares[jobs.count]
    return share >= count ? nil : share
  }

  /// Gives what arrays do not need any more to those that do: one change at most in an interval, less before
  /// more, so that there are never more at work than allowed for longer than that.
  func shareOut(_ now: Double) {
    guard now >= nextThrottleSeconds, !throttles.isEmpty, unanswered == nil else { return }
    nextThrottleSeconds = now + max(5, plan.limits.pollSeconds)
    let (jobs, shares) = shares(with: [elements.values.count { $0.task == nil }])
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
    system.throttle(change.job, to: change.share)
  }
}

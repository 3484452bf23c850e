import Output
import Pipeline
import Runner

extension ClusterRun {
  /// Asks the batch system one question: how elements stand, or now and then why they wait. The next one
  /// follows an interval after the answer.
  func ask(_ now: Double) {
    let asking = elements.values.filter {
      $0.isWorthAsking(quietSeconds: plan.limits.pollSeconds * 4, atSeconds: now)
    }
    let jobs = Set(asking.compactMap { $0.task?.job }).union(others.jobs)
    guard !jobs.isEmpty else { return }
    let waiting = jobsWithoutReason(now)
    if !waiting.isEmpty {
      nextReasonSeconds = now + 60
      askForReasons(waiting, now)
    } else {
      askForStates(jobs, now)
    }
    nextQuerySeconds = clock.monotonicSeconds() + pollSeconds
    pollSeconds = min(
      max(ClusterProfile.longestPollSeconds, plan.limits.pollSeconds), pollSeconds * 1.5)
  }

  private func askForStates(_ jobs: Set<String>, _ now: Double) {
    switch system.tasks(of: jobs.sorted()) {
    case .silent(let words):
      silentSince = silentSince ?? now
      if now - (silentSince ?? now) >= plan.limits.patienceSeconds, stop == nil {
        stop = .unreachable(words, elements: elements.count)
      }
    case .table(let table):
      silentSince = nil
      for number in elements.keys {
        guard let task = elements[number]?.task, jobs.contains(task.job) else { continue }
        elements[number]?.see(table[task], isQueue: table.isQueue, atSeconds: now)
      }
      others.see(table, atSeconds: now)
      noteReason()
    }
  }

  /// What the query of states has told already of why elements wait.
  private func noteReason() {
    let waiting = elements.values.filter { $0.begin == nil && $0.view?.state == .pending }
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
    let waiting = elements.values.filter { $0.begin == nil && $0.view?.state == .pending }
    guard !waiting.isEmpty, !waiting.contains(where: { $0.view?.reason != nil }) else { return [] }
    let oldest = waiting.compactMap(\.submittedSeconds).min() ?? now
    guard now - oldest > 300 || plan.limits.pollSeconds < 5 else { return [] }
    return Set(waiting.compactMap { $0.task?.job }).sorted()
  }

  private func askForReasons(_ jobs: [String], _ now: Double) {
    guard case .table(let table) = system.waitingReasons(of: jobs) else { return }
    for number in elements.keys {
      guard let task = elements[number]?.task, let view = table[task], view.reason != nil else {
        continue
      }
      elements[number]?.see(view, isQueue: false, atSeconds: now)
    }
    noteReason()
  }
}

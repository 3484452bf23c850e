import Captures
import Output
import Parallel
import Pipeline
import Runner
import Storage
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

extension ClusterRun {
  /// Rounds until everything has ended, the run is interrupted, or it stops.
  ///
  /// - Parameter isLeft: whether the terminal is gone: then elements are left at work.
  func attend(isLeft: () -> Bool) {
    let pause = min(2, plan.limits.pollSeconds)
    while true {
      if isLeft() {
        stop = .left
        return
      }
      if interruption.isRequested { return cancelAll() }
      round()
      if let stop {
        if case .configuration = stop { cancelAll() }
        return
      }
      if isOver { return }
      if hasCancelledWaiting { dropWaiting() }
      // Short pieces, so that an interrupt is heard.
      let until = clock.monotonicSeconds() + pause
      while clock.monotonicSeconds() < until, !interruption.isRequested, !isLeft() {
        usleep(50_000)
      }
    }
  }

  /// After the first failure of a run that is to stop there: what had not begun never will.
  private func dropWaiting() {
    for (number, element) in elements where element.begin == nil {
      if let view = element.view, view.state == .running { continue }
      for capture in element.captures { skip(capture.name, .failFast) }
      elements[number] = nil
    }
    for capture in later.map(\.capture) { skip(capture.name, .failFast) }
    later = []
    unsubmitted = []
  }

  /// Cancels what waits, asks what runs to end, hears its last words, kills what is left.
  private func cancelAll() {
    let jobs = liveJobs
    if !jobs.isEmpty { system.cancel(jobs, .orderly) }
    let left = interruption.secondsLeft(clock) ?? 10
    let until = clock.monotonicSeconds() + max(1, min(left, Double(site.killWaitSeconds)))
    var hasKilled = false
    var isKnownOver = jobs.isEmpty
    var pause = 2.0
    var nextLook = clock.monotonicSeconds() + pause
    while !isKnownOver {
      for entry in reader.read(where: { elements[$0] != nil }) {
        elements[entry.element]?.hear(entry.line, atSeconds: clock.monotonicSeconds())
        if case .event(let event) = entry.line { events.send(event) }
      }
      isKnownOver = elements.values.allSatisfy { $0.begin == nil || $0.end != nil }
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
        system.cancel(jobs, .kill)
      }
      if !isKnownOver { usleep(200_000) }
    }
    for element in elements.values {
      for line in element.lines.values where !line.outcome.isLocked {
        finish(line.outcome, of: element, line)
      }
    }
    elements = [:]
  }

  /// Whether the batch system says that none of these runs or waits; `false` when it says nothing.
  private func areOver(_ jobs: [String]) -> Bool {
    guard case .table(let table) = system.tasks(of: jobs) else { return false }
    return elements.values.allSatisfy { element in
      guard let task = element.task else { return true }
      switch table[task]?.state {
      case .pending, .running, .unknown: return false
      case nil: return table.isQueue
      default: return true
      }
    }
  }

  func skip(_ name: String, _ why: RunReportBuilder.SkipReason) {
    guard let index = indices[name], ended[name] == nil else { return }
    ended[name] = true
    ledger.skip(index, why)
  }

  /// Captures that another run's elements have let go: with the result that they gave, if they did the same
  /// to them, else planned anew.
  func releaseHeld(_ now: Double) {
    guard !others.held.isEmpty else { return }
    others.hear(atSeconds: now)
    let working = others.working
    let released = others.held.subtracting(working)
    guard !released.isEmpty else { return }
    others.held.formIntersection(working)
    var fresh: [Int] = []
    for name in released.sorted() {
      if let (line, _) = others.line(of: name, key: plan.key), !line.outcome.isLocked,
        line.outcome.report.outcome != .interrupted
      {
        finish(line.outcome, of: nil, line)
      } else if let index = indices[name] {
        fresh.append(index)
      }
    }
    takeUp(fresh)
  }

  /// Looks at captures once more and reports those without work; these.
  func settleAgain(_ indices: [Int]) -> Set<Int> {
    guard !indices.isEmpty else { return [] }
    var settled: Set<Int> = []
    for finding in UpToDateCheck(batch, targets, rereads: true).look(
      at: indices, until: interruption)
    {
      guard let report = finding.settled else { continue }
      ended[report.id] = true
      ledger.finish(finding.index, CaptureOutcome(report))
      settled.insert(finding.index)
    }
    return settled
  }

  /// Looks at captures and makes elements of those with work.
  func takeUp(_ indices: [Int]) {
    guard !indices.isEmpty else { return }
    let settled = settleAgain(indices)
    let work = indices.filter { !settled.contains($0) }
    let maker = ArrayTaskMaker(batch: batch, limits: plan.limits, site: site)
    add(maker.groups(work.map { targets[$0] }, past: []).groups)
  }

  /// The report of all captures, in their order; what has not ended is told as such.
  func close() -> RunReport {
    if interruption.isRequested || stop?.leavesElements == true {
      for target in targets where ended[target.layout.name] == nil {
        skip(target.layout.name, .interrupted)
      }
    }
    var report = ledger.close()
    figures.elements = max(figures.elements, 0)
    report.cluster = figures
    if let stop { report.exit = ExitStatus.gravest([stop.exit]) }
    return report
  }
}

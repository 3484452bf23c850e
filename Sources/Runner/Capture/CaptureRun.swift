import Captures
import Parallel
import Pipeline
import Storage
import SystemPackage

/// Carries out the plan of one capture: ready stages side by side, each on a thread of its own, all
/// drawing on one core budget.
///
/// One thread, the caller's, decides what starts and hears how it ended; job threads only work. Nothing
/// is shared between jobs but the budget, the cancellation flag and the output folder, where every job
/// has a staging folder of its own.
final class CaptureRun {
  private let session: CaptureSession
  private let options: RunOptions
  private let run: String
  private let budget: CoreBudget
  private let clock: RunClock
  private let events: any EventSink
  private let interruption: Interruption
  private let mailbox = Mailbox<JobMessage>()

  private var scheduler: Scheduler
  private let planner: Planner
  private let jobs: [String: PlannedJob]
  private let stages: [StageDefinition]
  private var results: [String: JobResult] = [:]
  private var running: [String: RunningJob] = [:]
  private var demanded: Set<String> = []
  /// Of jobs that had work to do.
  private var logs: [String: LogFile] = [:]
  /// Attempts that failed, by stage.
  private var failures: [String: Int] = [:]
  /// Stages that have nothing to do for this capture, selected or not.
  private let inapplicable: Set<String>
  /// Intermediates that were removed before this run.
  private let removedBefore: Set<String>

  init(
    _ session: CaptureSession, pipeline: PipelineDefinition, options: RunOptions, run: String,
    budget: CoreBudget, clock: RunClock, events: any EventSink, interruption: Interruption
  ) {
    self.session = session
    self.options = options
    self.run = run
    self.budget = budget
    self.clock = clock
    self.events = events
    self.interruption = interruption
    planner = Planner(pipeline, selection: options.selection)
    let facts = session.collector.facts(of: pipeline)
    inapplicable = Set(
      facts.filter { if case .notApplicable = $0.value.applicability { true } else { false } }.keys)
    removedBefore = Set(facts.filter { $0.value.published?.state == .removed }.keys)
    let plan = planner.plan(facts)
    jobs = Dictionary(uniqueKeysWithValues: plan.map { ($0.stage, $0) })
    let planned = pipeline.stages.filter { stage in plan.contains { $0.stage == stage.name } }
    stages = planned
    scheduler = Scheduler(planned, dormant: Set(plan.filter(\.isRemoved).map(\.stage)))
  }

  /// Runs to the end; never throws: what went wrong is in the report.
  func execute() -> CaptureReport {
    for stage in stages { announce(stage) }
    while !scheduler.isDone {
      if interruption.isRequested {
        for name in scheduler.cancelWaiting() { end(name, .cancelled, "not started") }
        interruptRunning()
      }
      for name in scheduler.start() { start(name) }
      if running.isEmpty { continue }
      let message = mailbox.take(withinSeconds: 0.25)
      noteMemory()
      guard let message else {
        stopOverdue()
        reportProgress()
        continue
      }
      switch message {
      case .needs(let name, let inputs):
        running[name] = nil
        demand(inputs, for: name)
      case .ended(let name, var result):
        result.report.peakMemoryBytes = running.removeValue(forKey: name)?.peakMemoryBytes
        if result.isRemoved {
          scheduler.rest(name)
        } else if shouldRetry(name, result) {
          start(name)
        } else {
          finish(name, result)
        }
      }
    }
    removeFinishedIntermediates(isLast: true)
    // Removed intermediates that nobody asked for.
    for stage in stages where results[stage.name] == nil {
      let result = upToDate(stage)
      results[stage.name] = result
      send(result, of: stage)
    }
    return report()
  }

  /// `name` must run and found intermediates removed: builds them first.
  private func demand(_ inputs: [String], for name: String) {
    demanded.formUnion(inputs)
    if let stopped = scheduler.demand(inputs, for: name) {
      end(stopped)
    } else if let gone = inputs.first(where: { scheduler.outcome(of: $0) == nil }) {
      end(name, .failed, "its input '\(gone)' was removed and is no part of this run")
    } else {
      start(name)
    }
  }

  private func announce(_ stage: StageDefinition) {
    guard let job = jobs[stage.name] else { return }
    var event = self.event(.planned, stage)
    event.action = job.action
    event.reason = job.reason
    event.message = job.details.isEmpty ? nil : job.details.joined(separator: "; ")
    send(event)
  }

  private func start(_ name: String) {
    guard let stage = stages.first(where: { $0.name == name }), let job = jobs[name] else { return }
    switch job.action {
    case .notApplicable: return finish(name, closed(stage, .notApplicable, job.details.first))
    case .blocked: return finish(name, closed(stage, .blocked, job.details.first))
    case .upToDate: return finish(name, upToDate(stage))
    case .run: break
    }
    let own = RunningJob(
      startedSeconds: clock.monotonicSeconds(),
      timeoutSeconds: stage.timeoutNanoseconds.map { Double($0) / 1e9 }, abort: interruption.abort)
    running[name] = own
    let log = log(of: name)
    var started = event(.started, stage)
    started.reason = job.reason
    send(started)
    let unusable = stage.inputs.map(\.stage).filter { input in
      scheduler.outcome(of: input).map { !$0.isUsable } ?? inapplicable.contains(input)
    }
    let runner = JobRunner(
      capture: session.capture, stage: stage, planner: planner, collector: session.collector,
      layout: session.layout, run: run, budget: budget, clock: clock,
      progress: own.progress, cancellation: own.cancellation, identities: session.identities,
      unusableInputs: Set(unusable), isDemanded: demanded.contains(name),
      log: log)
    JobThread.start { [mailbox] in mailbox.put(runner.execute()) }
  }

  /// To all who listen; what is about a job that was started, to its log as well.
  private func send(_ event: RunEvent) {
    events.send(event)
    guard let stage = event.stage, let log = logs[stage] else { return }
    // Often, and said by the next one.
    if event.kind != .progress { log.write(LogLine.text(event)) }
  }

  /// The log of a job: one per stage and run.
  private func log(of stage: String) -> LogFile {
    if let log = logs[stage] { return log }
    let log = LogFile(
      OutputLayout.log(
        of: stage, capture: session.layout.name, run: run, in: session.layout.root))
    logs[stage] = log
    return log
  }

  private func shouldRetry(_ name: String, _ result: JobResult) -> Bool {
    guard result.report.outcome == .failed, result.isTransient, !interruption.isRequested else {
      return false
    }
    let stage = stages.first { $0.name == name }
    let allowed = max(stage?.retries ?? 0, options.retries)
    failures[name, default: 0] += 1
    guard failures[name, default: 0] <= allowed, let stage else { return false }
    var event = self.event(.retried, stage)
    event.message = result.report.message
    send(event)
    return true
  }

  private func finish(_ name: String, _ result: JobResult) {
    results[name] = result
    if let stage = stages.first(where: { $0.name == name }) { send(result, of: stage) }
    end(scheduler.finish(name, result.report.outcome))
    removeFinishedIntermediates()
  }

  /// Tells how a job ended.
  private func send(_ result: JobResult, of stage: StageDefinition) {
    var event = self.event(result.report.outcome == .blocked ? .blocked : .finished, stage)
    event.outcome = result.report.outcome
    event.reason = result.report.reason
    event.message = result.report.message
    event.seconds = result.report.seconds
    event.frames = result.report.frames
    event.warnings = result.warnings.isEmpty ? nil : result.warnings
    send(event)
  }

  /// Takes note of jobs that the scheduler ended, in pipeline order: what stopped one is known by then.
  private func end(_ stopped: [Scheduler.Stopped]) {
    for (job, because) in stopped.map({ ($0.job, $0.because) }) {
      let outcome = scheduler.outcome(of: job) ?? .blocked
      let why =
        outcome == .notApplicable
        ? results[because]?.report.message
        : "its input '\(because)' \(scheduler.outcome(of: because)?.phrase ?? "")"
      end(job, outcome, why)
    }
  }

  /// Takes note of a job that ended without being started.
  private func end(_ name: String, _ outcome: JobOutcome, _ message: String?) {
    guard let stage = stages.first(where: { $0.name == name }) else { return }
    finish(name, closed(stage, outcome, message))
  }

  private func closed(_ stage: StageDefinition, _ outcome: JobOutcome, _ message: String?)
    -> JobResult
  {
    var report = StageReport(stage: stage.name, uses: stage.kind.name, outcome: outcome)
    report.message = message
    return JobResult(report: report)
  }

  private func upToDate(_ stage: StageDefinition) -> JobResult {
    var result = closed(stage, .upToDate, nil)
    if let record = session.collector.shelf.record(stage.name) { result.take(record) }
    return result
  }

  /// Intermediates go as soon as everything that reads them is done; failed readers keep them for the
  /// next attempt, and so do readers that are no part of this run, unless it had been removed before.
  /// A reader that is dormant may still be demanded and read it, until the run `isLast`.
  private func removeFinishedIntermediates(isLast: Bool = false) {
    for stage in planner.pipeline.stages where !stage.keep {
      let readers = planner.pipeline.stages.filter { reader in
        reader.inputs.contains { $0.stage == stage.name }
      }
      let allDone = readers.allSatisfy { reader in
        switch scheduler.states[reader.name] {
        case .ended(let outcome): outcome.isUsable || outcome == .notApplicable
        case .dormant: isLast
        case .waiting, .running: false
        case nil: removedBefore.contains(stage.name)
        }
      }
      switch scheduler.states[stage.name] {
      case .waiting, .running: continue
      case .dormant, .ended, nil: break
      }
      if allDone, !readers.isEmpty {
        try? session.collector.shelf.removeIntermediate(stage.name)
      }
    }
  }

  /// Stops what will not be done within the grace of an interrupt.
  private func interruptRunning() {
    guard let left = interruption.secondsLeft(clock) else { return }
    let now = clock.monotonicSeconds()
    for job in running.values {
      if let needed = job.secondsLeft(atSeconds: now), left > 0, needed <= left { continue }
      job.interrupt.cancel("interrupted")
    }
  }

  private func noteMemory() {
    guard let bytes = MemoryWatch.resident()?.bytes else { return }
    for name in running.keys { running[name]?.note(memoryBytes: bytes) }
  }

  private func stopOverdue() {
    let now = clock.monotonicSeconds()
    for (name, job) in running {
      guard let deadline = job.deadlineSeconds, now > deadline else { continue }
      let limit = stages.first { $0.name == name }?.timeoutNanoseconds ?? 0
      job.cancellation.cancel(
        "took longer than its timeout of \(DurationText.text(nanoseconds: limit))")
    }
  }

  private func reportProgress() {
    for stage in stages {
      guard let progress = running[stage.name]?.progress, progress.done > 0 else { continue }
      var event = self.event(.progress, stage)
      event.frames = progress.done
      event.totalFrames = progress.total > 0 ? progress.total : nil
      send(event)
    }
  }

  private func event(_ kind: RunEvent.Kind, _ stage: StageDefinition) -> RunEvent {
    var event = RunEvent(
      kind, time: clock.wallText(), capture: session.layout.name, stage: stage.name)
    event.uses = stage.kind.name
    return event
  }

  private func report() -> CaptureReport {
    var report = CaptureReport(
      id: session.layout.name, path: session.capture.folder.string,
      family: session.capture.family.rawValue, outcome: .done)
    var found: [CaptureWarning] = []
    for stage in stages {
      guard let result = results[stage.name] else { continue }
      report.stages.append(result.report)
      found = found.merged(with: result.warnings)
    }
    report.warnings = session.capture.warnings.merged(with: found)
    if report.stages.contains(where: { $0.outcome == .failed || $0.outcome == .cancelled }) {
      report.outcome = .failed
    } else if report.stages.contains(where: { $0.outcome == .blocked }) {
      report.outcome = .blocked
    } else if options.strict, !report.warnings.isEmpty {
      report.outcome = .failed
      report.message = "--strict: \(report.warnings.count) kinds of warnings"
    }
    return report
  }

  /// Whether a job could not write its result.
  var hadOutputFailure: Bool { results.values.contains(where: \.isOutputFailure) }
}

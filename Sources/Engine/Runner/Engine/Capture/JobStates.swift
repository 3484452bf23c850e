import Captures
import Core

/// How far the stages of a capture are: which may start, how each has ended, and what that ends in turn. Tells it by
/// events, and removes intermediates that are no longer needed. The capture's loop calls it.
struct JobStates {
  private let plan: CaptureJobs
  private let session: CaptureSession
  private let output: CaptureOutput
  /// The id that names in staging carry.
  private let attempt: String
  private var scheduler: Scheduler
  private var results = CaptureResults()
  private(set) var events: StageEvents

  init(
    _ plan: CaptureJobs, _ session: CaptureSession, _ output: CaptureOutput, attempt: String,
    _ events: StageEvents
  ) {
    self.plan = plan
    self.session = session
    self.output = output
    self.attempt = attempt
    self.events = events
    scheduler = plan.makeScheduler()
  }

  /// Whether nothing runs and nothing can start any more.
  var isDone: Bool { scheduler.isDone }

  // MARK: Starting

  func tellPlan() {
    for stage in plan.stages {
      if let (_, job) = plan[stage.name] { events.planned(stage, job) }
    }
  }

  /// The stages that may start now, in pipeline order; each counts as running.
  mutating func start() -> [String] { scheduler.start() }

  /// The log of a stage that is about to run; tells that it starts.
  mutating func begin(_ stage: StageDefinition, _ job: PlannedJob) -> LogFile {
    let log = events.log(of: stage.name)
    events.started(stage, job.reason)
    return log
  }

  /// Inputs of a stage that may not be read, whatever an earlier run left: they failed in this run or do not apply.
  func unusableInputs(of stage: StageDefinition) -> Set<String> {
    Set(
      stage.inputs.map(\.stage).filter { input in
        scheduler.outcome(of: input).map { !$0.isUsable } ?? plan.isInapplicable(input)
      })
  }

  /// Inputs of a stage that this run has made or found up to date.
  func expectedInputs(of stage: StageDefinition) -> Set<String> {
    Set(stage.inputs.map(\.stage).filter(scheduler.hasArtifact))
  }

  /// Whether this run has nothing to say about how a stage ended: it is no part of it.
  func isUnknown(_ name: String) -> Bool { scheduler.outcome(of: name) == nil }

  // MARK: Waiting

  /// Puts a started stage back behind inputs that it turned out to need. Whether it waits for any; `false`: all of them
  /// have ended well, and nothing has changed.
  mutating func demand(_ inputs: [String], for name: String) -> Bool {
    guard let stopped = scheduler.demand(inputs, for: name) else { return false }
    end(stopped)
    return true
  }

  /// Rests a stage that is up to date and removed: it is built again if it is demanded.
  mutating func rest(_ name: String) { scheduler.rest(name) }

  func tellRetry(_ stage: StageDefinition, after message: String?) {
    events.retried(stage, after: message)
  }

  // MARK: Ending

  mutating func finish(_ name: String, _ result: JobResult) {
    results[name] = result
    // A failure of the past is no news once the stage is up to date or has nothing to do.
    if result.report.outcome == .upToDate || result.report.outcome == .notApplicable {
      try? FileSystem.remove(session.layout.failed(name))
    }
    if let stage = plan.planner.pipeline[name] { events.ended(stage, result) }
    end(scheduler.finish(name, result.report.outcome))
    removeFinishedIntermediates(isLast: false)
  }

  /// Takes note of a stage that ended without being started.
  mutating func end(_ name: String, _ outcome: JobOutcome, _ message: String?) {
    guard let stage = plan.planner.pipeline[name] else { return }
    finish(name, JobResult(stage, outcome, message))
  }

  /// Takes note of stages that the scheduler ended, in pipeline order: what stopped one is known by then.
  private mutating func end(_ stopped: [Scheduler.Stopped]) {
    for (job, because) in stopped.map({ ($0.job, $0.because) }) {
      let outcome = scheduler.outcome(of: job) ?? .blocked
      let why =
        outcome == .notApplicable
        ? results[because]?.report.message
        : "its input '\(because)' \(scheduler.outcome(of: because)?.phrase ?? "")"
      end(job, outcome, why)
    }
  }

  /// Ends all stages that have not started.
  mutating func cancelWaiting() {
    for name in scheduler.cancelWaiting() { end(name, .cancelled, "not started") }
  }

  func upToDate(_ stage: StageDefinition) -> JobResult {
    var result = JobResult(stage, .upToDate, nil)
    if let record = session.collector.store.record(stage.name) { result.take(record) }
    return result
  }

  private func removeFinishedIntermediates(isLast: Bool) {
    for name in plan.removal.removable(scheduler.states, isLast: isLast) {
      try? session.collector.store.removeIntermediate(name, in: output, attempt: attempt)
    }
  }

  /// Closes the plan once no stage runs any more: removes what was kept for stages that might have asked for it, and
  /// takes note of removed intermediates that were not asked for.
  mutating func close() {
    removeFinishedIntermediates(isLast: true)
    session.collector.store.emptyScratch(in: output, attempt: attempt)
    for stage in plan.stages where results[stage.name] == nil {
      let result = upToDate(stage)
      results[stage.name] = result
      events.ended(stage, result)
    }
    for stage in plan.stages
    where !stage.keep && !FileSystem.exists(session.layout.artifact(stage.name)) {
      if results[stage.name]?.report.outcome == .ran { results[stage.name]?.report.removed = true }
    }
  }

  // MARK: The report

  /// Whether something that a stage needed was short to the end.
  var lacksResources: Bool { results.lacksResources }

  /// The exit codes that failed stages ask for.
  var codes: Set<Int> { results.codes }

  /// - Parameter named: stages that were asked for by name.
  func report(isStrict: Bool, named: [String]) -> CaptureReport {
    var report = CaptureReport(
      id: session.layout.name, path: session.capture.path.shown,
      family: session.capture.family.rawValue, outcome: .done)
    report.missing = session.capture.completeness.absentFiles
    return results.report(
      of: plan.stages.map(\.name), into: report,
      found: plan.planner.pipeline.unsettled(session.capture.warnings),
      lacking: session.collector.summary.lacking,
      shortfallPercent: plan.planner.pipeline.shortfallPercent, isStrict: isStrict, named: named)
  }
}

extension JobResult {
  /// The result of a stage that did not run.
  init(_ stage: StageDefinition, _ outcome: JobOutcome, _ message: String?) {
    var report = StageReport(stage: stage.name, uses: stage.kind.name, outcome: outcome)
    report.message = message
    self.init(report: report)
  }
}

import Captures
import Core
import SystemPackage

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
        scheduler.outcome(of: input).map { !$0.isDone } ?? plan.isInapplicable(input)
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
    if result.report.outcome == .upToDate || result.report.outcome == .notPossible {
      try? FileSystem.remove(session.layout.failed(name))
    }
    if let stage = plan.planner.pipeline[name] { events.ended(stage, result) }
    // Readers take what stays as what is up to date.
    end(scheduler.finish(name, result.isKept ? .upToDate : result.report.outcome))
    removeFinishedIntermediates(isLast: false)
  }

  /// Takes note of a stage that ended without being started.
  mutating func end(_ name: String, _ outcome: RunOutcome, _ message: String?) {
    guard let stage = plan.planner.pipeline[name] else { return }
    finish(name, JobResult(stage, outcome, message))
  }

  /// Takes note of stages that the scheduler ended, in pipeline order: what stopped one is known by then.
  private mutating func end(_ stopped: [Scheduler.Stopped]) {
    for (job, because) in stopped.map({ ($0.job, $0.because) }) {
      let outcome = scheduler.outcome(of: job) ?? .blocked
      let why =
        outcome == .notPossible
        ? results[because]?.report.message
        : "its input '\(because)' \(scheduler.outcome(of: because)?.phrase ?? "")"
      end(job, outcome, why)
    }
  }

  /// Ends all stages that have not started.
  mutating func cancelWaiting() {
    for name in scheduler.cancelWaiting() { end(name, .interrupted, "not started") }
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
      if results[stage.name]?.report.outcome == .made { results[stage.name]?.report.removed = true }
    }
  }

  // MARK: The report

  /// Whether something that a stage needed was short to the end.
  var lacksResources: Bool { results.lacksResources }

  /// The exit codes that failed stages ask for.
  var codes: Set<Int> { results.codes }

  /// - Parameter named: stages that were asked for by name.
  func report(isStrict: Bool, of source: PipelineSource?) -> CaptureReport {
    var report = CaptureReport(
      id: session.layout.name, path: session.capture.path.shown,
      family: session.capture.family.rawValue, outcome: .upToDate)
    report.missing = session.capture.completeness.absentFiles
    report.noteAltered(in: session.capture.path, session.digests)
    return results.report(
      of: plan.stages.map(\.name), into: report,
      found: plan.planner.pipeline.unsettled(session.capture.warnings),
      lacking: session.collector.summary.lacking,
      shortfallPercent: plan.planner.pipeline.shortfallPercent, isStrict: isStrict, of: source)
  }
}

extension JobResult {
  /// The result of a stage that did not run.
  init(_ stage: StageDefinition, _ outcome: RunOutcome, _ message: String?) {
    var report = StageReport(stage: stage.name, uses: stage.kind.name, outcome: outcome)
    report.message = message
    self.init(report: report)
  }
}

/// What is to be done about one capture, as decided before anything runs. Nothing of it changes during the run.
struct CaptureJobs {
  let planner: Planner
  /// Stages of the run, in pipeline order.
  let stages: [StageDefinition]
  /// Which intermediates may go, and when.
  let removal: IntermediateRemoval
  private let jobs: [String: PlannedJob]
  /// Stages that have nothing to do for this capture, selected or not.
  private let inapplicable: Set<String>
  /// What stages had to tell that found out in an earlier run that nothing is left for them.
  private let emptied: [String: [CaptureWarning]]

  /// Compares the pipeline with what is published. Cost: that of `FactsCollector.facts`.
  init(_ session: CaptureSession, _ planner: Planner) {
    let collector = session.collector
    let planner = planner.adapted(to: collector.summary, known: collector.store.known)
    let pipeline = planner.pipeline
    self.planner = planner
    let facts = collector.facts(of: pipeline)
    inapplicable = Set(
      facts.filter { if case .notApplicable = $0.value.applicability { true } else { false } }.keys)
    emptied = facts.filter { $0.value.warningsOfNothing != nil }.mapValues(\.warnings)
    removal = IntermediateRemoval(pipeline: pipeline)
    let plan = planner.plan(facts)
    jobs = Dictionary(plan.map { ($0.stage, $0) }, uniquingKeysWith: { first, _ in first })
    stages = pipeline.stages.filter { stage in plan.contains { $0.stage == stage.name } }
  }

  /// The plan of one stage; `nil` for a stage that is no part of the run.
  subscript(name: String) -> (stage: StageDefinition, job: PlannedJob)? {
    guard let stage = planner.pipeline[name], let job = jobs[name] else { return nil }
    return (stage, job)
  }

  /// All jobs before anything has run.
  func makeScheduler() -> Scheduler {
    Scheduler(stages, dormant: Set(jobs.values.filter(\.isRemoved).map(\.stage)))
  }

  /// Whether a stage that is no part of the run has nothing to do for this capture.
  func isInapplicable(_ name: String) -> Bool { inapplicable.contains(name) }

  /// The result of a stage that does not apply.
  func notApplicable(_ stage: StageDefinition, _ job: PlannedJob) -> JobResult {
    var result = JobResult(stage, .notPossible, job.details.joined(separator: "; "))
    result.isKept = job.isKept
    result.warnings = emptied[stage.name] ?? []
    return result
  }
}

/// Which intermediates (`keep: false`) are no longer needed. Pure.
///
/// They go as soon as everything in the run that reads them is done, at the end of the run at the latest.
struct IntermediateRemoval {
  let pipeline: PipelineDefinition

  /// - Parameters:
  ///   - states: those of the scheduler, by stage; stages that are no part of the run have none.
  ///   - isLast: whether the run is over: until then a dormant reader may still be demanded.
  func removable(_ states: [String: Scheduler.State], isLast: Bool) -> [String] {
    pipeline.stages.filter { !$0.keep }.map(\.name).filter { name in
      switch states[name] {
      case .waiting, .running: return false
      case .dormant, .ended, nil: break
      }
      let readers = pipeline.stages.filter { reader in
        reader.inputs.contains { $0.stage == name }
      }
      return (isLast || !readers.isEmpty)
        && readers.allSatisfy { isDone(states[$0.name], isLast: isLast) }
    }
  }

  private func isDone(_ reader: Scheduler.State?, isLast: Bool) -> Bool {
    switch reader {
    // A reader that has failed may be tried again.
    case .ended(let outcome): isLast || outcome.isDone || outcome == .notPossible
    case .dormant: isLast
    case .waiting, .running: false
    case nil: true
    }
  }
}

/// What has become of the stages of one capture so far, and the report that this adds up to.
struct CaptureResults {
  private var results: [String: JobResult] = [:]

  subscript(stage: String) -> JobResult? {
    get { results[stage] }
    set { results[stage] = newValue }
  }

  /// Whether something that a job needed was short.
  var lacksResources: Bool { results.values.contains { $0.verdict?.isShortage == true } }

  /// The exit codes that failed jobs ask for.
  var codes: Set<Int> { Set(results.values.compactMap(\.verdict?.exit)) }

  /// - Parameters:
  ///   - stages: the names, in pipeline order; those without a result are left out.
  ///   - report: who it is about, empty otherwise.
  ///   - found: the warnings of opening the capture; those of the stages are added.
  ///   - lacking: streams of which opening found less than is declared.
  ///   - shortfallPercent: how much of it may be lost.
  ///   - named: stages that were asked for by name.
  func report(
    of stages: [String], into report: CaptureReport, found: [CaptureWarning],
    lacking: [StreamClaim] = [], shortfallPercent: Double = Shortfall.usualPercent, isStrict: Bool,
    of source: PipelineSource? = nil
  ) -> CaptureReport {
    var report = report
    var warnings: [CaptureWarning] = []
    var holes: [String: FrameHoles] = [:]
    let (named, listed) = (source?.named ?? [], source?.listed ?? [])
    for stage in stages {
      guard var result = results[stage] else { continue }
      if result.report.outcome == .notPossible, named.contains(stage) || listed.contains(stage) {
        result.report.askedByName = true
      }
      report.stages.append(result.report)
      warnings = warnings.merged(with: result.warnings)
      holes.merge(result.holes) { $0.lostShare >= $1.lostShare ? $0 : $1 }
    }
    let shortfalls = Shortfall.found(lacking: lacking, holes: holes, percent: shortfallPercent)
    report.shortfalls = shortfalls.isEmpty ? nil : shortfalls
    report.warnings = found.merged(with: warnings).merged(with: shortfalls.map(\.warning))
    report.conclude(isStrict: isStrict, named: named, listed: listed)
    return report
  }
}

extension CaptureReport {
  /// Takes in what an upload server notes of files that are others by now.
  mutating func noteAltered(in place: FilePath, _ digests: DigestCache) {
    let names = UploadRecord.altered(in: place, digest: digests.noted)
    altered = names.isEmpty ? nil : names
  }

  /// Sets the outcome that follows from the stages and, if `isStrict`, from the warnings.
  ///
  /// - Parameters:
  ///   - named: stages that were asked for by name.
  ///   - listed: formats that only the pipeline asks for: they decide where nothing else is possible.
  mutating func conclude(isStrict: Bool, named: [String] = [], listed: [String] = []) {
    if !stages.isEmpty, stages.allSatisfy({ $0.outcome == .notPossible }) {
      let why = stages.compactMap { stage in
        stage.message.map { "\(stage.stage) is not possible (\($0))" }
      }
      message = "nothing to do: " + why.joined(separator: ", ")
    }
    cause = FailureCause.deciding(stages.filter { $0.outcome == .failed }.compactMap(\.cause))
    if stages.contains(where: { $0.outcome == .failed }) {
      outcome = .failed
    } else if stages.contains(where: { $0.outcome == .interrupted }) {
      outcome = .interrupted
    } else if stages.contains(where: { $0.outcome == .blocked }) {
      outcome = .blocked
    } else {
      // Notes fail nothing.
      let count = isStrict ? warningCount : WarningCount([])
      let wanted = stages.filter {
        named.isEmpty ? !listed.isEmpty : named.contains($0.stage)
      }
      outcome =
        !count.isNone
        ? .failed
        : !wanted.isEmpty && wanted.allSatisfy { $0.outcome == .notPossible }
          ? .notPossible : stages.contains { $0.outcome == .made } ? .made : .upToDate
      cause = count.isNone ? nil : .input
      detail = count.isNone ? nil : FailureDetail(.strict)
      if !count.isNone {
        message =
          "--strict: there \(Plural.word(count.kinds, "is", "are")) \(count.sentence); "
          + "run without it to accept them"
      }
    }
  }
}

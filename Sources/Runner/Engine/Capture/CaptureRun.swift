import Captures
import Output
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
  private let output: CaptureOutput
  private let options: RunOptions
  private let run: String
  private let budget: CoreBudget
  private let clock: RunClock
  private let interruption: Interruption
  private let heartbeat: Heartbeat?
  private let mailbox = Mailbox<JobMessage>()

  private let planner: Planner
  private let jobs: [String: PlannedJob]
  private let stages: [StageDefinition]
  private let removal: IntermediateRemoval
  /// Stages that have nothing to do for this capture, selected or not.
  private let inapplicable: Set<String>
  /// What stages had to tell that found out in an earlier run that nothing is left for them.
  private let emptied: [String: [CaptureWarning]]

  private var scheduler: Scheduler
  private var events: StageEvents
  private var running = RunningJobs()
  private var retries: JobRetries
  /// Jobs for which threads, processes, descriptors or memory were short: about eight seconds of
  /// patience, as long as nothing else of the capture runs that may give some back.
  private var short = JobRetries(allowed: 4)
  private var results = CaptureResults()
  private var demanded: Set<String> = []
  /// How often a job was started again because an input that had been there was removed.
  private var restarts: [String: Int] = [:]
  /// Only another run that works on the same output removes them. More often is no coincidence.
  private static let mostRestarts = 3
  /// Stages that were asked to stop because of a limit of their own.
  private var stopping: Set<String> = []
  private var pulse = Throttle(everySeconds: 0.25)

  init(
    _ session: CaptureSession, output: CaptureOutput, pipeline: PipelineDefinition,
    options: RunOptions, run: String,
    budget: CoreBudget, clock: RunClock, events: any EventSink, interruption: Interruption,
    heartbeat: Heartbeat? = nil
  ) {
    self.session = session
    self.output = output
    self.options = options
    self.run = run
    self.budget = budget
    self.clock = clock
    self.interruption = interruption
    self.heartbeat = heartbeat
    let pipeline = pipeline.suited(
      to: session.collector.summary, options.selection, known: session.collector.shelf.known)
    planner = Planner(pipeline, selection: options.selection)
    let facts = session.collector.facts(of: pipeline)
    inapplicable = Set(
      facts.filter { if case .notApplicable = $0.value.applicability { true } else { false } }.keys)
    emptied = facts.compactMapValues(\.empty?.warnings)
    removal = IntermediateRemoval(
      pipeline: pipeline,
      removedBefore: Set(facts.filter { $0.value.published?.state == .removed }.keys))
    let plan = planner.plan(facts)
    jobs = Dictionary(plan.map { ($0.stage, $0) }, uniquingKeysWith: { first, _ in first })
    let planned = pipeline.stages.filter { stage in plan.contains { $0.stage == stage.name } }
    stages = planned
    scheduler = Scheduler(planned, dormant: Set(plan.filter(\.isRemoved).map(\.stage)))
    retries = JobRetries(allowed: options.retries)
    self.events = StageEvents(events, clock, session.layout, run: run)
  }

  /// Runs to the end; never throws: what went wrong is in the report.
  func execute() -> CaptureReport {
    for stage in stages {
      if let job = jobs[stage.name] { events.planned(stage, job) }
    }
    while !scheduler.isDone {
      if interruption.isRequested { stopForInterrupt() }
      let now = clock.monotonicSeconds()
      for name in scheduler.start() + retries.takeDue(atSeconds: now)
        + short.takeDue(atSeconds: now)
      {
        start(name)
      }
      if running.isEmpty, retries.isEmpty, short.isEmpty { continue }
      let message = mailbox.take(withinSeconds: secondsToWait)
      if let bytes = MemoryWatch.resident()?.bytes { running.note(memoryBytes: bytes) }
      // By the clock: many messages must not keep a stage from its time-out.
      if pulse.isDue(atSeconds: clock.monotonicSeconds()) { lookAfterRunning() }
      if let message { hear(message) }
    }
    removeFinishedIntermediates(isLast: true)
    session.collector.shelf.emptyScratch(in: output, attempt: options.attempt(of: run))
    // Removed intermediates that nobody asked for.
    for stage in stages where results[stage.name] == nil {
      let result = upToDate(stage)
      results[stage.name] = result
      events.ended(stage, result)
    }
    return report()
  }

  /// Whether something that a job needed was short to the end.
  var wasShort: Bool { results.wasShort }

  private var secondsToWait: Double {
    let now = clock.monotonicSeconds()
    return [retries, short].compactMap { $0.secondsToNext(atSeconds: now) }
      .reduce(pulse.everySeconds, min)
  }

  /// The exit codes that its failed jobs ask for.
  var codes: Set<Int> { results.codes }

  private func hear(_ message: JobMessage) {
    switch message {
    case .needs(let name, let inputs):
      running.end(name)
      demand(inputs, for: name)
    case .ended(let name, var result):
      result.report.peakMemoryBytes = running.end(name)?.peakMemoryBytes
      if result.isRemoved {
        scheduler.rest(name)
      } else if !willRetry(name, result) {
        finish(name, result)
      }
    }
  }

  // MARK: Starting

  private func start(_ name: String) {
    guard let stage = planner.pipeline[name], let job = jobs[name] else { return }
    switch job.action {
    case .notApplicable:
      var result = closed(stage, .notApplicable, job.details.first)
      result.warnings = emptied[name] ?? []
      return finish(name, result)
    case .blocked: return finish(name, closed(stage, .blocked, job.details.first))
    case .upToDate where !demanded.contains(name): return finish(name, upToDate(stage))
    case .upToDate, .run: break
    }
    let own = running.start(
      stage, atSeconds: clock.monotonicSeconds(), stall: options.stallNanoseconds,
      abort: interruption.abort)
    let log = events.log(of: name)
    events.started(stage, job.reason)
    let unusable = stage.inputs.map(\.stage).filter { input in
      scheduler.outcome(of: input).map { !$0.isUsable } ?? inapplicable.contains(input)
    }
    let expected = stage.inputs.map(\.stage).filter(scheduler.hasArtifact)
    let runner = JobRunner(
      capture: session.capture, stage: stage, planner: planner, collector: session.collector,
      layout: session.layout, output: output, attempt: options.attempt(of: run), budget: budget,
      clock: clock,
      progress: own.progress, cancellation: own.cancellation, identities: session.identities,
      unusableInputs: Set(unusable), expectedInputs: Set(expected),
      isDemanded: demanded.contains(name),
      log: log, place: options.outputPlace, program: options.program)
    if ThreadPool.shared?.start({ [mailbox] in mailbox.put(runner.execute()) }) != true {
      var result = closed(stage, .failed, ResourceExhaustion.ofThreads.description)
      result.verdict = FailureTable.verdict(.ourselves, .shortage)
      mailbox.put(.ended(name, result))
    }
  }

  /// `name` must run and found intermediates removed: builds them first.
  private func demand(_ inputs: [String], for name: String) {
    demanded.formUnion(inputs)
    if let stopped = scheduler.demand(inputs, for: name) {
      end(stopped)
    } else if let gone = inputs.first(where: { scheduler.outcome(of: $0) == nil }) {
      end(name, .failed, "its input '\(gone)' was removed and is not part of this run")
    } else {
      restart(name, without: inputs)
    }
  }

  /// `name` found inputs removed that are there by what this run knows: either they have been built since it
  /// looked, or another run that works on the same output has removed them, and they are built again.
  private func restart(_ name: String, without inputs: [String]) {
    guard let stage = planner.pipeline[name] else { return }
    let times = restarts[name, default: 0]
    restarts[name] = times + 1
    if times == 0 { return start(name) }
    guard times <= Self.mostRestarts else {
      var result = closed(
        stage, .failed,
        "its input '\(inputs[0])' was there and is gone: is another machine working on this output?"
      )
      result.verdict = FailureVerdict(exit: ExitStatus.jobFailed, .machine)
      return finish(name, result)
    }
    for input in inputs { scheduler.rest(input) }
    if let stopped = scheduler.demand(inputs, for: name) { end(stopped) }
  }

  private func willRetry(_ name: String, _ result: JobResult) -> Bool {
    guard result.report.outcome == .failed, let verdict = result.verdict,
      !interruption.isRequested, let stage = planner.pipeline[name]
    else { return false }
    let now = clock.monotonicSeconds()
    if verdict.isShortage {
      if !running.isEmpty {
        short.hold(name, atSeconds: now)
      } else if short.again(name, own: 0, atSeconds: now) == nil {
        return false
      }
    } else {
      guard verdict.mayPass,
        retries.again(name, own: stage.retries, atSeconds: now) != nil
      else { return false }
    }
    events.retried(stage, after: result.report.message)
    return true
  }

  // MARK: Ending

  private func finish(_ name: String, _ result: JobResult) {
    results[name] = result
    // A failure of the past is no news once the stage is up to date or has nothing to do.
    if result.report.outcome == .upToDate || result.report.outcome == .notApplicable {
      try? FileSystem.remove(session.layout.failed(name))
    }
    if let stage = planner.pipeline[name] { events.ended(stage, result) }
    end(scheduler.finish(name, result.report.outcome))
    removeFinishedIntermediates(isLast: false)
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
    guard let stage = planner.pipeline[name] else { return }
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

  private func removeFinishedIntermediates(isLast: Bool) {
    for name in removal.removable(scheduler.states, isLast: isLast) {
      try? session.collector.shelf.removeIntermediate(
        name, in: output, attempt: options.attempt(of: run))
    }
  }

  // MARK: Looking after what runs

  /// Nothing more starts, and what will not be done within the grace is asked to stop.
  private func stopForInterrupt() {
    for name in scheduler.cancelWaiting() { end(name, .cancelled, "not started") }
    for name in retries.takeAll() + short.takeAll() {
      end(name, .cancelled, "interrupted before it was tried again")
    }
    if let left = interruption.secondsLeft(clock) {
      running.interrupt(secondsLeft: left, atSeconds: clock.monotonicSeconds())
    }
  }

  private func lookAfterRunning() {
    // Between stages, and before another attempt, nothing is to be seen and nothing is wrong.
    if running.isEmpty || running.isWaiting {
      heartbeat?.wait()
    } else {
      heartbeat?.beat(running.signsOfLife &+ Digest.piecesDigested)
    }
    let stopped = running.stopOverdue(
      digested: Digest.piecesDigested, atSeconds: clock.monotonicSeconds())
    for stage in stages {
      if let why = stopped[stage.name], stopping.insert(stage.name).inserted {
        events.stopping(stage, why)
      }
      if let job = running[stage.name] { events.progressed(stage, job.progress) }
    }
  }

  private func report() -> CaptureReport {
    var report = CaptureReport(
      id: session.layout.name, path: session.capture.folder.shown,
      family: session.capture.family.rawValue, outcome: .done)
    report.missing = session.capture.completeness.absentFiles
    return results.report(
      of: stages.map(\.name), into: report, found: session.capture.warnings,
      lacking: session.collector.summary.lacking ?? [],
      shortfallPercent: planner.pipeline.shortfallPercent, isStrict: options.strict,
      named: options.pipelineSource?.named ?? [])
  }
}

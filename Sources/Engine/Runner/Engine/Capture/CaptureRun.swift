import Captures
import Core
import SystemPackage

/// A stage of a capture in a run: what was planned for it, what runs of it, and how it has ended.
struct Job {
  let stage: StageDefinition
  let plan: PlannedJob
  /// The warnings of an earlier run in which the stage found nothing to do.
  let emptied: [CaptureWarning]
  /// `nil` while it is on no thread.
  var running: RunningJob?
  /// `nil` until it has ended.
  var result: JobResult?
  /// Whether a dependent needs the removed intermediate that it makes.
  var isDemanded = false
  /// How often it was started again because an input that had been there was removed.
  var restarts = 0
  /// Whether it was asked to stop because of a limit of its own.
  var isStopping = false
}

/// Carries out the plan of one capture: ready stages side by side, each on a thread of its own, all
/// drawing on one core budget.
///
/// One thread, the caller's, decides what starts and hears how it ended; job threads only work and put messages into
/// the mailbox. Between jobs nothing is shared but the budget, the cancellation and the output folder, where each has
/// a staging folder of its own. `CaptureTask` calls it once.
final class CaptureRun {
  private let task: CaptureTask
  private let session: CaptureSession
  private let output: CaptureOutput
  /// Adapted to the capture.
  private let planner: Planner
  /// Stages that have nothing to do for this capture, selected or not.
  private let inapplicable: Set<String>
  /// Stages of the run, in pipeline order, and the job of each.
  private let stages: [StageDefinition]
  private var jobs: [String: Job]
  private var scheduler: Scheduler
  private var events: StageEvents
  private var retries: RetryQueue
  private var pulse = Throttle(everySeconds: 0.25)
  private let mailbox = Mailbox<JobMessage>()

  /// Only another run that works on the same output removes inputs that were there. More often is no coincidence.
  private static let mostRestarts = 3

  /// Compares the pipeline with what is published. Cost: that of `FactsCollector.facts`.
  ///
  /// - Parameter planner: adapted to the capture.
  init(_ task: CaptureTask, _ session: CaptureSession, _ output: CaptureOutput, _ planner: Planner)
  {
    let collector = session.collector
    let facts = collector.facts(of: planner.pipeline)
    var jobs: [String: Job] = [:]
    for job in planner.plan(facts) {
      jobs[job.stage] = planner.pipeline[job.stage].map {
        Job(
          stage: $0, plan: job,
          emptied: facts[job.stage].map { $0.warningsOfNothing == nil ? [] : $0.warnings } ?? [])
      }
    }
    stages = planner.pipeline.stages.filter { jobs[$0.name] != nil }
    scheduler = Scheduler(
      stages, dormant: Set(jobs.values.filter(\.plan.isRemoved).map(\.stage.name)))
    events = StageEvents(
      sink: task.events, clock: task.clock, layout: session.layout, run: task.run)
    retries = RetryQueue(allowed: task.options.retries)
    (self.task, self.session, self.output) = (task, session, output)
    (self.planner, self.jobs) = (planner, jobs)
    inapplicable = Set(
      facts.filter { if case .notApplicable = $0.value.applicability { true } else { false } }.keys)
  }

  /// Runs to the end; never throws: what went wrong is in the outcome.
  func execute() -> CaptureOutcome {
    for job in stages.compactMap({ jobs[$0.name] }) {
      events.send(.planned, job.stage) {
        $0.action = job.plan.action
        $0.reason = job.plan.reason
        $0.message = job.plan.details.isEmpty ? nil : job.plan.details.joined(separator: "; ")
      }
    }
    while !scheduler.isDone {
      if task.interruption.isRequested { stopForInterrupt() }
      let now = task.clock.monotonicSeconds()
      for name in scheduler.start() + retries.takeDue(atSeconds: now) { start(name) }
      if running.isEmpty, retries.isEmpty { continue }
      let message = mailbox.take(withinSeconds: secondsToWait)
      look()
      if let message { hear(message) }
    }
    close()
    let results = stages.compactMap { jobs[$0.name]?.result }
    var report = CaptureReport(
      id: session.layout.name, path: session.capture.path.shown,
      family: session.capture.family.rawValue, outcome: .upToDate)
    report.missing = session.capture.completeness.absentFiles
    report.take(results.compactMap(\.removed))
    report.noteAltered(in: session.capture.path, session.digests)
    report.take(
      results, found: planner.pipeline.unsettled(session.capture.warnings),
      lacking: session.collector.summary.lacking,
      shortfallPercent: planner.pipeline.shortfallPercent, isStrict: task.options.strict,
      of: task.options.pipelineSource)
    var outcome = CaptureOutcome(report, codes: Set(results.compactMap(\.exit)))
    outcome.lacksResources = results.contains { $0.report.why.isShortage }
    return outcome
  }

  /// The jobs that are on their threads.
  private var running: [RunningJob] { jobs.values.compactMap(\.running) }

  private var secondsToWait: Double {
    let seconds = retries.secondsToNext(atSeconds: task.clock.monotonicSeconds())
    return min(pulse.everySeconds, seconds ?? .infinity)
  }

  private func hear(_ message: JobMessage) {
    switch message {
    case .needs(let name, let inputs):
      jobs[name]?.running = nil
      demand(inputs, for: name)
    case .ended(var result):
      let name = result.report.stage
      result.report.peakMemoryBytes = jobs[name]?.running?.peakMemoryBytes
      jobs[name]?.running = nil
      if result.isRemoved {
        // Built again if it is demanded.
        scheduler.rest(name)
      } else if !willRetry(name, result) {
        finish(name, result)
      }
    }
  }

  // MARK: Starting

  private func start(_ name: String) {
    guard let job = jobs[name] else { return }
    let stage = job.stage
    switch job.plan.action {
    case .notApplicable:
      var result = JobResult(
        stage, .notPossible, Failure(message: job.plan.details.joined(separator: "; ")))
      result.isKept = job.plan.isKept
      result.warnings = job.emptied
      return finish(name, result)
    case .blocked where !job.plan.isObstructed: return end(name, .blocked, job.plan.details.first)
    case .upToDate where !job.isDemanded: return finish(name, upToDate(stage))
    case .upToDate, .run, .blocked: break
    }
    let running = RunningJob(
      stage, atSeconds: task.clock.monotonicSeconds(), stall: task.options.stallNanoseconds,
      abort: task.interruption.abort)
    jobs[name]?.running = running
    let log = events.log(of: name)
    events.send(.started, stage) { $0.reason = job.plan.reason }
    let inputs = stage.inputs.map(\.stage)
    let runner = JobRunner(
      task: task, session: session, output: output, planner: planner, stage: stage,
      progress: running.progress, cancellation: running.cancellation,
      unusableInputs: Set(inputs.filter(isUnusable)),
      failedInputs: Dictionary(
        firstOf: inputs.filter { scheduler.outcome(of: $0)?.hasFailed == true }.map {
          ($0, phrase($0))
        }),
      expectedInputs: Set(inputs.filter(scheduler.hasArtifact)), isDemanded: job.isDemanded,
      log: log)
    if ThreadPool.shared?.start({ [mailbox] in mailbox.put(runner.execute()) }) != true {
      var failure = FailureTable.failure(.ourselves, .shortage)
      failure.message = ResourceExhaustion.ofThreads.description
      mailbox.put(.ended(JobResult(stage, .failed, failure)))
    }
  }

  /// Whether an input may not be read, whatever an earlier run left: it failed in this run or does not apply.
  private func isUnusable(_ input: String) -> Bool {
    scheduler.outcome(of: input).map { !$0.isDone } ?? inapplicable.contains(input)
  }

  /// `name` must run and found intermediates removed: builds them first. Where all of them are there by what this run
  /// knows, either they have been built since it looked, or another run that works on the same output has removed
  /// them, and they are built again.
  private func demand(_ inputs: [String], for name: String) {
    for input in inputs { jobs[input]?.isDemanded = true }
    if putBehind(inputs, name) { return }
    if let gone = inputs.first(where: { scheduler.outcome(of: $0) == nil }) {
      return end(name, .failed, "its input '\(gone)' was removed and is not part of this run")
    }
    guard let job = jobs[name] else { return }
    jobs[name]?.restarts += 1
    if job.restarts == 0 {
      start(name)
    } else if job.restarts <= Self.mostRestarts {
      for input in inputs { scheduler.rest(input) }
      _ = putBehind(inputs, name)
    } else {
      finish(name, JobResult(job.stage, .failed, StageFailure.vanished(input: inputs[0]).failure))
    }
  }

  /// Puts a started job back behind inputs that it turned out to need. Whether it waits for any; `false`: all of them
  /// have ended well, and nothing has changed.
  private func putBehind(_ inputs: [String], _ name: String) -> Bool {
    guard let stopped = scheduler.demand(inputs, for: name) else { return false }
    end(stopped)
    return true
  }

  private func willRetry(_ name: String, _ result: JobResult) -> Bool {
    guard result.report.outcome == .failed, !task.interruption.isRequested,
      let stage = jobs[name]?.stage,
      retries.add(
        name, result.report.why, own: stage.retries,
        beside: jobs.values.filter { $0.running != nil }.map(\.stage.name),
        atSeconds: task.clock.monotonicSeconds())
    else { return false }
    events.send(.retried, stage) { $0.message = result.report.why.message }
    return true
  }

  // MARK: Looking after what runs

  /// Notes what the process has in memory, and looks after limits when it is time: by the clock, since many messages
  /// must not keep a stage from its time-out.
  private func look() {
    if let bytes = MemoryWatch.resident()?.bytes {
      for stage in stages { jobs[stage.name]?.running?.note(memoryBytes: bytes) }
    }
    guard pulse.isDue(atSeconds: task.clock.monotonicSeconds()) else { return }
    // Between stages, and before another attempt, nothing is to be seen and nothing is wrong.
    let running = running
    if running.isEmpty || running.contains(where: \.progress.isWaiting) {
      task.heartbeat?.wait()
    } else {
      task.heartbeat?.beat(
        running.reduce(running.count) { $0 &+ $1.progress.signsOfLife } &+ Digest.piecesDigested)
    }
    let now = task.clock.monotonicSeconds()
    let digested = Digest.piecesDigested
    for stage in stages {
      if let why = jobs[stage.name]?.running?.stopIfOverdue(digested: digested, atSeconds: now),
        jobs[stage.name]?.isStopping == false
      {
        jobs[stage.name]?.isStopping = true
        events.send(.stopping, stage) { $0.message = why }
      }
      if let job = jobs[stage.name]?.running { events.progressed(stage, job.progress) }
    }
  }

  /// Starts no more stages, and asks those to stop that will not be done within the grace.
  private func stopForInterrupt() {
    for name in scheduler.cancelWaiting() { end(name, .interrupted, "not started") }
    for name in retries.takeAll() {
      end(name, .interrupted, "interrupted before it was tried again")
    }
    guard let left = task.interruption.secondsLeft(task.clock) else { return }
    let now = task.clock.monotonicSeconds()
    for job in running { job.interrupt(secondsLeft: left, atSeconds: now) }
  }

  // MARK: Ending

  private func finish(_ name: String, _ result: JobResult) {
    guard let stage = jobs[name]?.stage else { return }
    jobs[name]?.result = result
    // A failure of the past is no news once the stage is up to date or has nothing to do.
    if result.report.outcome == .upToDate || result.report.outcome == .notPossible {
      try? FileSystem.remove(session.layout.failed(name))
    }
    events.ended(stage, result)
    // Readers take what stays as what is up to date.
    end(scheduler.finish(name, result.isKept ? .upToDate : result.report.outcome))
    removeFinishedIntermediates(isLast: false)
  }

  /// Takes note of a stage that ended without being started.
  private func end(_ name: String, _ outcome: RunOutcome, _ message: String?) {
    guard let stage = jobs[name]?.stage else { return }
    finish(name, JobResult(stage, outcome, Failure(message: message)))
  }

  /// Takes note of stages that the scheduler ended, in pipeline order: what stopped one is known by then.
  private func end(_ stopped: [Scheduler.Stopped]) {
    for stop in stopped {
      let outcome = scheduler.outcome(of: stop.job) ?? .blocked
      let why =
        outcome == .notPossible
        ? jobs[stop.because]?.result?.report.why.message
        : phrase(stop.because)
      end(stop.job, outcome, why)
    }
  }

  /// `its input 'color' failed`: of inputs that were blocked or stopped because of others, the stage where it began.
  private func phrase(_ input: String) -> String {
    let outcome = scheduler.outcome(of: input)
    if outcome == .blocked || outcome == .interrupted,
      let earlier = jobs[input]?.stage.inputs.map(\.stage).first(where: {
        scheduler.outcome(of: $0).map { $0.hasFailed || $0 == outcome } == true
      })
    {
      return phrase(earlier)
    }
    return "its input '\(input)' \(outcome?.phrase ?? "")"
  }

  private func upToDate(_ stage: StageDefinition) -> JobResult {
    var result = JobResult(stage, .upToDate)
    let collector = session.collector
    if let record = collector.store.record(stage.name) {
      result.take(record, unlisted: collector.unlisted(in: stage.name))
    }
    return result
  }

  private func removeFinishedIntermediates(isLast: Bool) {
    for name in planner.pipeline.removableIntermediates(scheduler.states, isLast: isLast) {
      try? session.collector.store.removeIntermediate(name, in: output, attempt: task.attempt)
    }
  }

  /// Removes what was made before of a stage with nothing to do, unless what it was made from is what is there: a stage that
  /// was to make that anew has failed, or made the same.
  private func removeOutdated(_ stage: StageDefinition) {
    let store = session.collector.store
    guard let job = jobs[stage.name], job.result?.report.outcome == .notPossible,
      let record = store.record(stage.name)
    else { return }
    let inputs = planner.pipeline.stages.compactMap { store.published($0.name, verify: false) }
    let isKept = record.inputs.artifacts.allSatisfy { name, digest in
      stage.kind.ports.first { $0.name == name }.map { port in
        inputs.contains { $0.believedRecord.map(port.digest) == digest }
      } == true
    }
    if isKept {
      jobs[stage.name]?.result?.report.why.message? += "; what was made before stays"
      return
    }
    do {
      guard try output.place(stage.name) == .ours else { return }
      try output.removeArtifact(stage.name, attempt: task.attempt)
      jobs[stage.name]?.result?.removed = job.plan.removed
    } catch {
      jobs[stage.name]?.result = JobResult(stage, .failed, Failure(message: "\(error)"))
    }
  }

  /// Closes the plan once no stage runs any more: removes what was kept for stages that might have asked for it, and
  /// takes note of removed intermediates that were not asked for.
  private func close() {
    for stage in stages where jobs[stage.name]?.plan.isOutdated == true { removeOutdated(stage) }
    removeFinishedIntermediates(isLast: true)
    session.collector.store.emptyScratch(in: output, attempt: task.attempt)
    for stage in stages where jobs[stage.name]?.result == nil {
      let result = upToDate(stage)
      jobs[stage.name]?.result = result
      events.ended(stage, result)
    }
    for stage in stages where !stage.keep && !FileSystem.exists(session.layout.artifact(stage.name))
    {
      if jobs[stage.name]?.result?.report.outcome == .made {
        jobs[stage.name]?.result?.report.removed = true
      }
    }
  }
}

extension PipelineDefinition {
  /// Intermediates (`keep: false`) that are no longer needed: they go as soon as everything in the run that reads them
  /// is done, at the end of the run at the latest.
  ///
  /// - Parameters:
  ///   - states: those of the scheduler, by stage; stages that are no part of the run have none.
  ///   - isLast: whether the run is over: until then a dormant reader may still be demanded.
  func removableIntermediates(_ states: [String: Scheduler.State], isLast: Bool) -> [String] {
    func isDone(_ reader: StageDefinition) -> Bool {
      switch states[reader.name] {
      // A reader that has failed may be tried again.
      case .ended(let outcome): isLast || outcome.isDone || outcome == .notPossible
      case .dormant: isLast
      case .waiting, .running: false
      case nil: true
      }
    }
    return stages.filter { !$0.keep }.map(\.name).filter { name in
      if states[name] == .waiting || states[name] == .running { return false }
      let readers = stages.filter { reader in reader.inputs.contains { $0.stage == name } }
      return (isLast || !readers.isEmpty) && readers.allSatisfy(isDone)
    }
  }
}

extension CaptureReport {
  /// Takes in how its stages have ended, and what that makes of the capture.
  ///
  /// - Parameters:
  ///   - results: of its stages, in pipeline order.
  ///   - found: the warnings of opening the capture; those of the stages are added.
  ///   - lacking: streams of which opening found less than is declared.
  ///   - shortfallPercent: how much of it may be lost.
  ///   - source: says which stages were asked for by name.
  mutating func take(
    _ results: [JobResult], found: [CaptureWarning], lacking: [StreamClaim] = [],
    shortfallPercent: Double = Shortfall.usualPercent, isStrict: Bool,
    of source: PipelineSource? = nil
  ) {
    var warnings: [CaptureWarning] = []
    var holes: [String: FrameHoles] = [:]
    let (named, listed) = (source?.named ?? [], source?.listed ?? [])
    for result in results {
      var stage = result.report
      if stage.outcome == .notPossible, (named + listed).contains(stage.stage) {
        stage.askedByName = true
      }
      self.stages.append(stage)
      warnings = warnings.merged(with: result.warnings)
      holes.merge(result.holes) { $0.lostShare >= $1.lostShare ? $0 : $1 }
    }
    let found = found.merged(with: warnings)
    let lost = Shortfall.found(lacking: lacking, holes: holes, percent: shortfallPercent)
    self.shortfalls = lost.isEmpty ? nil : lost
    self.warnings = found.merged(with: lost.map(\.warning))
    conclude(isStrict: isStrict, named: named, listed: listed)
  }

  /// Takes in what an upload server notes of files that are others by now.
  mutating func noteAltered(in place: FilePath, _ digests: DigestCache) {
    let names = UploadRecord.altered(in: place, digest: digests.noted)
    self.altered = names.isEmpty ? nil : names
  }

  /// Sets the outcome that follows from the stages and, if `isStrict`, from the warnings.
  ///
  /// - Parameters:
  ///   - named: stages that were asked for by name.
  ///   - listed: formats that only the pipeline asks for: they decide where nothing else is possible.
  mutating func conclude(isStrict: Bool, named: [String] = [], listed: [String] = []) {
    if !self.stages.isEmpty, self.stages.allSatisfy({ $0.outcome == .notPossible }) {
      let reasons = self.stages.compactMap { stage in
        stage.why.message.map { "\(stage.stage) is not possible (\($0))" }
      }
      why.message = "nothing to do: " + reasons.joined(separator: ", ")
    }
    why.cause = FailureCause.deciding(
      self.stages.filter { $0.outcome == .failed }.compactMap(\.why.cause))
    if self.stages.contains(where: { $0.outcome == .failed }) {
      self.outcome = .failed
    } else if self.stages.contains(where: { $0.outcome == .interrupted }) {
      self.outcome = .interrupted
    } else if self.stages.contains(where: { $0.outcome == .blocked }) {
      self.outcome = .blocked
    } else {
      // Notes fail nothing.
      let count = isStrict ? warningCount : WarningCount([])
      let wanted = self.stages.filter {
        PipelineSource.decides($0.stage, named: named, listed: listed)
      }
      self.outcome =
        !count.isNone
        ? .failed
        : !wanted.isEmpty && wanted.allSatisfy { $0.outcome == .notPossible }
          ? .notPossible : self.stages.contains { $0.outcome == .made } ? .made : .upToDate
      guard !count.isNone else { return }
      why = Failure(
        message: "--strict: there \(Plural.word(count.kinds, "is", "are")) \(count.sentence); "
          + "run without it to accept them", cause: .input, detail: FailureDetail(.strict))
    }
  }
}

/// Says when something that is to be done every so often is due: by the clock, however busy its owner is
/// otherwise. Pure.
struct Throttle {
  let everySeconds: Double
  private(set) var lastSeconds: Double?

  /// Whether it is time, which begins the next interval; the first call only begins one.
  mutating func isDue(atSeconds now: Double) -> Bool {
    guard let last = lastSeconds else {
      lastSeconds = now
      return false
    }
    guard now - last >= everySeconds else { return false }
    lastSeconds = now
    return true
  }
}

import Captures
import Core

/// Carries out the plan of one capture: ready stages side by side, each on a thread of its own, all
/// drawing on one core budget.
///
/// One thread, the caller's, decides what starts and hears how it ended; job threads only work. This type is the loop:
/// what is to be done is in `CaptureJobs`, how far it is in `JobStates`, what runs in `JobWatch`, what waits for
/// another attempt in `RetryQueue`. `CaptureTask` calls it once.
final class CaptureRun {
  private let options: RunOptions
  private let clock: RunClock
  private let interruption: Interruption
  private let plan: CaptureJobs
  private let starter: JobStarter
  private var states: JobStates
  private var watch: JobWatch
  private var retries: RetryQueue
  private var demanded = DemandedInputs()

  init(
    _ session: CaptureSession, output: CaptureOutput, pipeline: PipelineDefinition,
    options: RunOptions, run: String,
    budget: CoreBudget, clock: RunClock, events: any EventSink, interruption: Interruption,
    heartbeat: Heartbeat? = nil
  ) {
    self.options = options
    self.clock = clock
    self.interruption = interruption
    let attempt = options.attempt(of: run)
    plan = CaptureJobs(session, pipeline, options.selection)
    starter = JobStarter(
      session, output, plan.planner, options, attempt: attempt, budget: budget, clock: clock)
    states = JobStates(
      plan, session, output, attempt: attempt,
      StageEvents(events, clock, session.layout, run: run))
    watch = JobWatch(
      clock: clock, interruption: interruption, heartbeat: heartbeat,
      stallNanoseconds: options.stallNanoseconds)
    retries = RetryQueue(allowed: options.retries)
  }

  /// Runs to the end; never throws: what went wrong is in the report.
  func execute() -> CaptureReport {
    states.tellPlan()
    while !states.isDone {
      if interruption.isRequested { stopForInterrupt() }
      let now = clock.monotonicSeconds()
      for name in states.start() + retries.takeDue(atSeconds: now) { start(name) }
      if watch.isEmpty, retries.isEmpty { continue }
      let message = starter.take(withinSeconds: secondsToWait)
      watch.look(plan.stages, states.events)
      if let message { hear(message) }
    }
    states.close()
    return states.report(
      isStrict: options.strict, named: options.pipelineSource?.named ?? [])
  }

  /// Whether something that a job needed was short to the end.
  var lacksResources: Bool { states.lacksResources }

  /// The exit codes that its failed jobs ask for.
  var codes: Set<Int> { states.codes }

  private var secondsToWait: Double {
    let seconds = retries.secondsToNext(atSeconds: clock.monotonicSeconds())
    return min(watch.everySeconds, seconds ?? .infinity)
  }

  private func hear(_ message: JobMessage) {
    switch message {
    case .needs(let name, let inputs):
      watch.end(name)
      demand(inputs, for: name)
    case .ended(let name, var result):
      result.report.peakMemoryBytes = watch.end(name)?.peakMemoryBytes
      if result.isRemoved {
        states.rest(name)
      } else if !willRetry(name, result) {
        states.finish(name, result)
      }
    }
  }

  private func start(_ name: String) {
    guard let (stage, job) = plan[name] else { return }
    switch job.action {
    case .notApplicable: return states.finish(name, plan.notApplicable(stage, job))
    case .blocked where !job.isObstructed: return states.end(name, .blocked, job.details.first)
    case .upToDate where !demanded.contains(name):
      return states.finish(name, states.upToDate(stage))
    case .upToDate, .run, .blocked: break
    }
    let running = watch.start(stage)
    let log = states.begin(stage, job)
    starter.start(
      JobStarter.Order(
        stage: stage, job: running, unusableInputs: states.unusableInputs(of: stage),
        expectedInputs: states.expectedInputs(of: stage), isDemanded: demanded.contains(name),
        log: log))
  }

  /// `name` must run and found intermediates removed: builds them first.
  private func demand(_ inputs: [String], for name: String) {
    demanded.add(inputs)
    if states.demand(inputs, for: name) { return }
    if let gone = inputs.first(where: states.isUnknown) {
      states.end(name, .failed, "its input '\(gone)' was removed and is not part of this run")
    } else {
      restart(name, without: inputs)
    }
  }

  /// `name` found inputs removed that are there by what this run knows: either they have been built since it
  /// looked, or another run that works on the same output has removed them, and they are built again.
  private func restart(_ name: String, without inputs: [String]) {
    guard let (stage, _) = plan[name] else { return }
    switch demanded.restart(name) {
    case .startAgain: start(name)
    case .buildAgain:
      for input in inputs { states.rest(input) }
      _ = states.demand(inputs, for: name)
    case .giveUp:
      var result = JobResult(
        stage, .failed,
        "its input '\(inputs[0])' was there and is gone: is another machine working on this output?"
      )
      result.verdict = FailureVerdict(exit: ExitStatus.jobFailed, .machine)
      states.finish(name, result)
    }
  }

  private func willRetry(_ name: String, _ result: JobResult) -> Bool {
    guard result.report.outcome == .failed, let verdict = result.verdict,
      !interruption.isRequested, let (stage, _) = plan[name],
      retries.add(
        name, verdict, own: stage.retries, isAlone: watch.isEmpty,
        atSeconds: clock.monotonicSeconds())
    else { return false }
    states.tellRetry(stage, after: result.report.message)
    return true
  }

  /// Starts no more stages, and asks those to stop that will not be done within the grace.
  private func stopForInterrupt() {
    states.cancelWaiting()
    for name in retries.takeAll() {
      states.end(name, .cancelled, "interrupted before it was tried again")
    }
    watch.stopForInterrupt()
  }
}

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
    _ session: CaptureSession, output: CaptureOutput, planner: Planner,
    options: RunOptions, run: String, budget: CoreBudget, clock: RunClock, events: any EventSink,
    interruption: Interruption,
    heartbeat: Heartbeat? = nil
  ) {
    self.options = options
    self.clock = clock
    self.interruption = interruption
    let attempt = options.attempt(of: run)
    plan = CaptureJobs(session, planner)
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
      isStrict: options.strict, of: options.pipelineSource)
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
    case .notPossible: return states.finish(name, plan.notApplicable(stage, job))
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
        name, verdict, own: stage.retries, beside: watch.names,
        atSeconds: clock.monotonicSeconds())
    else { return false }
    states.tellRetry(stage, after: result.report.message)
    return true
  }

  /// Starts no more stages, and asks those to stop that will not be done within the grace.
  private func stopForInterrupt() {
    states.cancelWaiting()
    for name in retries.takeAll() {
      states.end(name, .interrupted, "interrupted before it was tried again")
    }
    watch.stopForInterrupt()
  }
}

/// Removed intermediates that jobs of a capture need after all, and how often a job was started again because of one.
/// Pure.
struct DemandedInputs {
  private var names: Set<String> = []
  /// How often a job was started again because an input that had been there was removed.
  private var restarts: [String: Int] = [:]

  /// Only another run that works on the same output removes them. More often is no coincidence.
  private static let mostRestarts = 3

  /// What to do about a job that found inputs removed that are there by what the run knows.
  enum Answer: Hashable {
    /// They may have been built since it looked.
    case startAgain
    /// Another run has removed them.
    case buildAgain
    /// They are removed again and again.
    case giveUp
  }

  func contains(_ name: String) -> Bool { names.contains(name) }

  mutating func add(_ inputs: [String]) { names.formUnion(inputs) }

  mutating func restart(_ name: String) -> Answer {
    let times = restarts[name, default: 0]
    restarts[name] = times + 1
    if times == 0 { return .startAgain }
    return times <= Self.mostRestarts ? .buildAgain : .giveUp
  }
}

/// Failed jobs of a capture that wait to be started again: those whose failure may pass, and those for which threads,
/// processes, descriptors or memory were short. Pure.
struct RetryQueue {
  private var retries: JobRetries
  /// About eight seconds of patience, as long as nothing else of the capture runs that may give some back.
  private var short = JobRetries(allowed: 4)
  /// Jobs for which something was short before.
  private var wereShort: Set<String> = []

  /// - Parameter allowed: attempts beyond the first that every job has.
  init(allowed: Int) { retries = JobRetries(allowed: allowed) }

  /// Whether nothing waits.
  var isEmpty: Bool { retries.isEmpty && short.isEmpty }

  /// Puts a failed job on the list, unless its failure cannot pass or all its attempts are used up.
  ///
  /// - Parameters:
  ///   - own: the attempts that the job's own stage allows.
  ///   - beside: other jobs of the capture that run. Where none of them could give something back, which those cannot
  ///     that were short themselves, a shortage counts as an attempt.
  /// - Returns: whether it will be started again.
  mutating func add(
    _ name: String, _ verdict: FailureVerdict, own: Int, beside others: some Sequence<String>,
    atSeconds now: Double
  ) -> Bool {
    guard verdict.isShortage else {
      return verdict.mayPass && retries.again(name, own: own, atSeconds: now) != nil
    }
    wereShort.insert(name)
    if wereShort.isSuperset(of: others) { return short.again(name, own: 0, atSeconds: now) != nil }
    short.hold(name, atSeconds: now)
    return true
  }

  /// Takes those off the list whose time has come.
  mutating func takeDue(atSeconds now: Double) -> [String] {
    retries.takeDue(atSeconds: now) + short.takeDue(atSeconds: now)
  }

  /// Takes all off the list.
  mutating func takeAll() -> [String] { retries.takeAll() + short.takeAll() }

  /// How long until the next one is due; `nil` when none waits.
  func secondsToNext(atSeconds now: Double) -> Double? {
    [retries, short].compactMap { $0.secondsToNext(atSeconds: now) }.min()
  }
}

/// Starts jobs of a capture, each on a thread of its own, and hears from them through one mailbox. Nothing is shared
/// between jobs but the budget, the cancellation and the output folder, where each has a staging folder of its own.
struct JobStarter {
  let session: CaptureSession
  let output: CaptureOutput
  let planner: Planner
  let options: RunOptions
  /// The id that names in staging carry.
  let attempt: String
  let budget: CoreBudget
  let clock: RunClock
  private let mailbox = Mailbox<JobMessage>()

  init(
    _ session: CaptureSession, _ output: CaptureOutput, _ planner: Planner, _ options: RunOptions,
    attempt: String, budget: CoreBudget, clock: RunClock
  ) {
    self.session = session
    self.output = output
    self.planner = planner
    self.options = options
    self.attempt = attempt
    self.budget = budget
    self.clock = clock
  }

  /// What a job is told besides.
  struct Order {
    var stage: StageDefinition
    var job: RunningJob
    var unusableInputs: Set<String>
    var expectedInputs: Set<String>
    /// Whether a dependent asked for it.
    var isDemanded: Bool
    var log: LogFile
  }

  /// Starts a job. One for which there is no thread fails at once, which is heard like any other end.
  func start(_ order: Order) {
    let runner = JobRunner(
      capture: session.capture, stage: order.stage, planner: planner, collector: session.collector,
      layout: session.layout, output: output, attempt: attempt, budget: budget, clock: clock,
      progress: order.job.progress, cancellation: order.job.cancellation,
      identities: session.identities, unusableInputs: order.unusableInputs,
      expectedInputs: order.expectedInputs, isDemanded: order.isDemanded, log: order.log,
      place: options.outputPlace, program: options.program)
    if ThreadPool.shared?.start({ [mailbox] in mailbox.put(runner.execute()) }) != true {
      var result = JobResult(order.stage, .failed, ResourceExhaustion.ofThreads.description)
      result.verdict = FailureTable.verdict(.ourselves, .shortage)
      mailbox.put(.ended(order.stage.name, result))
    }
  }

  /// What a job has to say; waits for it at most so long.
  func take(withinSeconds seconds: Double) -> JobMessage? { mailbox.take(withinSeconds: seconds) }
}

/// Looks after the jobs of a capture that are on their threads: memory, limits of their own, interrupts, and the sign
/// of life to the supervisor. The capture's loop calls it; jobs only see their cancellation.
struct JobWatch {
  private let clock: RunClock
  private let interruption: Interruption
  private let heartbeat: Heartbeat?
  private let stallNanoseconds: Int64?
  private var running = RunningJobs()
  /// Stages that were asked to stop because of a limit of their own.
  private var stopping: Set<String> = []
  private var pulse = Throttle(everySeconds: 0.25)

  /// - Parameters:
  ///   - stallNanoseconds: how long a stage without a word of its own may show no sign of life; `nil`: for ever.
  ///   - heartbeat: `nil`: there is no listener.
  init(
    clock: RunClock, interruption: Interruption, heartbeat: Heartbeat?, stallNanoseconds: Int64?
  ) {
    self.clock = clock
    self.interruption = interruption
    self.heartbeat = heartbeat
    self.stallNanoseconds = stallNanoseconds
  }

  /// Whether no job runs.
  var isEmpty: Bool { running.isEmpty }

  /// The stages of the jobs that run.
  var names: some Sequence<String> { running.names }

  /// How often jobs must be looked after, in seconds.
  var everySeconds: Double { pulse.everySeconds }

  /// A job begins.
  mutating func start(_ stage: StageDefinition) -> RunningJob {
    running.start(
      stage, atSeconds: clock.monotonicSeconds(), stall: stallNanoseconds,
      abort: interruption.abort)
  }

  /// A job has ended; what it was, with its memory.
  @discardableResult
  mutating func end(_ name: String) -> RunningJob? { running.end(name) }

  /// Notes what the process has in memory, and looks after limits when it is time: by the clock, since many messages
  /// must not keep a stage from its time-out.
  ///
  /// - Parameter stages: those of the run, in the order in which they are told about.
  mutating func look(_ stages: [StageDefinition], _ events: StageEvents) {
    if let bytes = MemoryWatch.resident()?.bytes { running.note(memoryBytes: bytes) }
    guard pulse.isDue(atSeconds: clock.monotonicSeconds()) else { return }
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

  /// Asks those to stop that will not be done within the grace of an interrupt.
  func stopForInterrupt() {
    guard let left = interruption.secondsLeft(clock) else { return }
    running.interrupt(secondsLeft: left, atSeconds: clock.monotonicSeconds())
  }
}

/// Says when something that is to be done every so often is due: by the clock, however busy its owner is
/// otherwise. Pure.
struct Throttle {
  let everySeconds: Double
  private var lastSeconds: Double?

  init(everySeconds: Double) {
    self.everySeconds = everySeconds
  }

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

#if canImport(Glibc)
  import Glibc
#endif

/// The jobs of one capture that are on their threads now, and what may end them before their time: their
/// own limits and an interrupt.
struct RunningJobs {
  private var jobs: [String: RunningJob] = [:]

  var isEmpty: Bool { jobs.isEmpty }

  var names: some Sequence<String> { jobs.keys }

  /// Another number whenever something has gone on in one of them.
  var signsOfLife: Int { jobs.values.reduce(jobs.count) { $0 &+ $1.progress.signsOfLife } }

  /// Whether one of them waits for cores that others have.
  var isWaiting: Bool { jobs.values.contains { $0.progress.isWaiting } }

  subscript(name: String) -> RunningJob? { jobs[name] }

  /// - Parameter stall: how long a stage without a word of its own may show no sign of life, in
  ///   nanoseconds.
  mutating func start(
    _ stage: StageDefinition, atSeconds now: Double, stall: Int64? = nil, abort: Cancellation
  ) -> RunningJob {
    let job = RunningJob(
      startedSeconds: now, timeoutNanoseconds: stage.timeoutNanoseconds,
      stallNanoseconds: stage.stallNanoseconds ?? stall, abort: abort)
    jobs[stage.name] = job
    return job
  }

  /// Takes a job that has ended off the list.
  @discardableResult
  mutating func end(_ name: String) -> RunningJob? { jobs.removeValue(forKey: name) }

  /// Notes for each what the whole process has in memory.
  mutating func note(memoryBytes: Int64) {
    for name in jobs.keys { jobs[name]?.note(memoryBytes: memoryBytes) }
  }

  /// Asks those to stop that have reached a limit of their own.
  ///
  /// - Parameters:
  ///   - digested: a number that grows while the process reads and writes.
  ///   - waitsForDisk: whether a thread of the process does now.
  /// - Returns: the names of all that were asked, by now or before.
  mutating func stopOverdue(
    digested: Int = 0, atSeconds now: Double,
    waitsForDisk: () -> Bool = { ProcessSigns(of: getpid())?.waitsForDisk ?? false }
  ) -> [String: String] {
    var stopped: [String: String] = [:]
    for name in jobs.keys.sorted() {
      jobs[name]?.look(digested: digested, atSeconds: now, waitsForDisk: waitsForDisk)
      guard let job = jobs[name], let reason = job.reasonToStop(atSeconds: now) else {
        continue
      }
      job.cancellation.cancel(reason.why, limit: reason.limit)
      stopped[name] = reason.why
    }
    return stopped
  }

  /// Asks those to stop that will not be done within what is left of the grace of an interrupt.
  func interrupt(secondsLeft left: Double, atSeconds now: Double) {
    for job in jobs.values {
      if let needed = job.secondsLeft(atSeconds: now), left > 0, needed <= left { continue }
      job.interrupt.cancel("interrupted")
    }
  }
}

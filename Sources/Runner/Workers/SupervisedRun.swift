import Captures
import Parallel
import Pipeline
import Processes
import Storage
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// One run of a supervisor.
final class SupervisedRun {
  private let supervisor: Supervisor
  private var targets: [CaptureTarget]
  /// Gives more captures while the run goes on.
  private let supply: (any TargetSupply)?
  private let run: String
  private let events: any EventSink
  private let interruption: Interruption
  private let mailbox = Mailbox<Notice>()
  private let clock: RunClock
  private let options: RunOptions

  private var ledger: RunLedger
  private var admission: Admission
  private let survey: Survey
  /// Indices of captures of which nothing is known yet.
  private var unseen: [Int]
  /// Captures that are being looked at; `nil` while none are.
  private var looking: [Int]?
  /// Captures that need a worker and wait for it.
  private var waiting: [Int] = []
  /// Captures that another run held when they were looked at: looked at again at the end.
  private var postponed: Set<Int> = []
  private var running: [Int: RunningWorker] = [:]
  /// Captures for which something was short while no other ran, and when they are tried again.
  private var short = JobRetries(allowed: 3)
  private var hasPassedOnInterrupt = false

  /// How long a worker may take to stop a stage that is overdue before it is killed.
  static let patienceSeconds = 5.0

  init(
    _ supervisor: Supervisor, _ targets: [CaptureTarget], declined: [CaptureFinder.Finding],
    supply: (any TargetSupply)? = nil, run: String, events: any EventSink,
    interruption: Interruption
  ) {
    self.supervisor = supervisor
    self.targets = targets
    self.supply = supply
    self.run = run
    self.events = events
    self.interruption = interruption
    clock = supervisor.batch.clock
    var options = supervisor.batch.options
    options.outputPlace = OutputPlace(options.output)
    self.options = options
    ledger = RunLedger(targets, declined: declined, run: run, clock: clock, events: events)
    admission = Admission(
      cores: options.cores,
      memoryBytes: options.memoryBytes ?? MachineLimits.availableMemoryBytes / 10 * 9,
      mostWorkers: MachineLimits.workers)
    survey = Survey(supervisor.batch, targets)
    unseen = FinishedFirst.order(targets, supervisor.batch.pipeline)
    if FinishedFirst.isWorkLikely(targets, supervisor.batch.pipeline) {
      supervisor.workers.prepared?.getReady()
    }
  }

  /// What other threads tell the one that decides.
  private enum Notice: Sendable {
    case worker(Int, WorkerReport)
    case surveyed([Survey.Finding])
  }

  func execute() -> RunReport {
    // A worker that is gone must not take us with it when we write to it.
    signal(SIGPIPE, SIG_IGN)
    while true {
      takeUp()
      if running.isEmpty, looking == nil {
        if waiting.isEmpty, unseen.isEmpty, short.isEmpty { break }
        if short.isEmpty { continue }
      }
      switch mailbox.take(withinSeconds: 0.25) {
      case .worker(let index, let report): hear(index, report)
      case .surveyed(let findings): hear(findings)
      case nil: break
      }
      passOnInterrupt()
      killOverdue()
    }
    // Only now: while workers start, somebody may be about to make a folder in it.
    if let root = targets.first?.layout.root {
      removeIfEmpty(folder: OutputLayout.run(run, in: root).appending("logs"))
    }
    ScratchFolder.end(options, run: run)
    return ledger.close()
  }

  // MARK: Starting

  private func takeUp() {
    if let why = reasonToStartNothing { skipWaiting(why) }
    takeFromSupply()
    lookAhead()
    waiting = short.takeDue(atSeconds: clock.monotonicSeconds()).compactMap { Int($0) } + waiting
    let needed = Admission.expectedMemoryBytes(supervisor.batch.pipeline)
    var admitted: [Int] = []
    while let index = waiting.first, !interruption.isRequested,
      admission.canAdmit(memoryBytes: needed)
    {
      waiting.removeFirst()
      admission.admit(index, memoryBytes: needed)
      running[index] = RunningWorker(share: 1)
      admitted.append(index)
    }
    // Each is told at its start what all of them leave it.
    giveShares()
    for index in admitted { start(index) }
  }

  /// Asks for as many captures as could be started now, so that whoever gives them decides to the last
  /// moment what is started next.
  private func takeFromSupply() {
    guard let supply, !interruption.isRequested, unseen.isEmpty, looking == nil else { return }
    let room = admission.cores - running.count - waiting.count
    guard room > 0 else { return }
    for target in supply.next(room) {
      waiting.append(targets.count)
      targets.append(target)
      ledger.append(target)
    }
  }

  /// Takes a capture up again later for which something was short: when another has ended, or after a
  /// while if none runs. `false` when all patience is used up.
  private func takeUpLater(_ index: Int, _ message: String?) -> Bool {
    guard !interruption.isRequested else { return false }
    if running.isEmpty {
      let name = "\(index)"
      guard short.again(name, own: 0, atSeconds: clock.monotonicSeconds()) != nil else {
        return false
      }
    } else {
      admission.limitToRunning()
      waiting.append(index)
    }
    var event = RunEvent(.waiting, time: clock.wallText(), capture: targets[index].layout.name)
    event.message = message
    events.send(event)
    return true
  }

  private var reasonToStartNothing: RunLedger.SkipReason? {
    if interruption.isRequested { return .interrupted }
    return options.failFast && ledger.hasFailed ? .failFast : nil
  }

  /// Has the next captures looked at while there are fewer that need a worker than could be given one.
  private func lookAhead() {
    guard looking == nil, !unseen.isEmpty, waiting.count < admission.cores else { return }
    let block = Array(unseen.prefix(survey.blockLength))
    unseen.removeFirst(block.count)
    looking = block
    let look: @Sendable () -> Void = { [mailbox, survey, interruption] in
      mailbox.put(.surveyed(survey.look(at: block, until: interruption)))
    }
    // Without a thread of its own it takes a moment of this one.
    if !JobThread.start(look) { look() }
  }

  private func hear(_ findings: [Survey.Finding]) {
    let seen = Set(findings.map(\.index))
    // Those that an interrupt has kept from being looked at.
    unseen = (looking ?? []).filter { !seen.contains($0) } + unseen
    looking = nil
    for finding in findings {
      if let why = reasonToStartNothing {
        ledger.skip(finding.index, why)
      } else if let report = finding.settled {
        ledger.start(finding.index)
        ledger.finish(finding.index, CaptureOutcome(report))
      } else if finding.isLocked, postponed.insert(finding.index).inserted {
        unseen.append(finding.index)
      } else {
        waiting.append(finding.index)
      }
    }
  }

  private func start(_ index: Int) {
    ledger.start(index)
    let order = WorkerOrder(
      target: targets[index], pipeline: supervisor.source, options: options, run: run,
      share: running[index]?.share ?? 1, memoryLimitBytes: memoryLimitBytes,
      descriptorLimit: DescriptorLimit.original)
    let log = LogFile(log(of: index), below: targets[index].layout.root)
    supervisor.workers.start(order, log: log) { [mailbox] report in
      mailbox.put(.worker(index, report))
    }
  }

  /// An equal part of what the user gives; without a word of the user, all that the machine has.
  private var memoryLimitBytes: Int64 {
    guard let given = options.memoryBytes else { return admission.memoryBytes }
    let needed = Admission.expectedMemoryBytes(supervisor.batch.pipeline)
    let known = supply == nil ? targets.count : options.cores
    let atOnce = min(options.cores, known, max(1, Int(clamping: given / max(1, needed))))
    return given / Int64(max(1, atOnce))
  }

  private func skipWaiting(_ why: RunLedger.SkipReason) {
    for index in waiting + unseen + short.takeAll().compactMap({ Int($0) }) {
      ledger.skip(index, why)
    }
    waiting = []
    unseen = []
  }

  private func giveShares() {
    for (index, cores) in admission.shares where running[index]?.share != cores {
      running[index]?.share = cores
      instruct(index, .share(cores))
    }
  }

  // MARK: Listening

  private func hear(_ index: Int, _ report: WorkerReport) {
    switch report {
    case .started(let child, let instructions):
      running[index]?.child = child
      running[index]?.instructions = instructions
      // What had changed while it started.
      instruct(index, .share(running[index]?.share ?? 1))
      if hasPassedOnInterrupt { passOnInterrupt(to: index) }
    case .said(.event(let event)):
      running[index]?.trace.hear(event)
      setDeadline(index, event)
      events.send(event)
    case .said(.exceededMemory(let used)):
      running[index]?.exceededMemory = true
      running[index]?.killReason =
        "the worker used \(used >> 20) MB of memory, but its limit is "
        + "\(memoryLimitBytes >> 20) MB; raise --memory, or run fewer captures at a time with --jobs"
    case .said(.ended(let outcome)): running[index]?.outcome = outcome
    case .ended(let end): finish(index, .ended(end))
    case .failed(let error): finish(index, .notStarted(error))
    }
  }

  private func finish(_ index: Int, _ end: WorkerFailure.End) {
    guard let worker = running.removeValue(forKey: index) else { return }
    worker.instructions?.close()
    admission.release(index)
    let log = log(of: index)
    var outcome = worker.outcome
    if outcome != nil {
      removeIfEmpty(log)
    } else {
      let failure = WorkerFailure(
        target: targets[index], trace: worker.trace, run: run, options: options, clock: clock,
        log: log,
        isInterrupted: worker.isInterrupted)
      outcome = failure.outcome(end, killReason: worker.killReason)
      outcome?.exceededMemory = worker.exceededMemory
    }
    if let outcome {
      if outcome.isShort {
        let message =
          outcome.report.message ?? outcome.report.stages.compactMap(\.message).first
        if !takeUpLater(index, message) { ledger.finish(index, outcome) }
      } else {
        admission.allowOneMore()
        ledger.finish(index, outcome)
      }
    }
    giveShares()
  }

  private func log(of index: Int) -> FilePath {
    OutputLayout.log(
      of: "worker", capture: targets[index].layout.name, run: run, in: targets[index].layout.root)
  }

  /// A worker that printed nothing leaves no log, and a capture without logs no folder for them.
  private func removeIfEmpty(_ log: FilePath) {
    guard let identity = try? FileIdentity(of: log), identity.bytes == 0 else { return }
    try? FileSystem.remove(log)
    removeIfEmpty(folder: log.removingLastComponent())
  }

  private func removeIfEmpty(folder: FilePath) {
    if (try? FileSystem.names(in: folder)) == [] { try? FileSystem.remove(folder) }
  }

  // MARK: Stopping

  private func instruct(_ index: Int, _ instruction: WorkerInstruction) {
    guard let channel = running[index]?.instructions,
      let line = try? JSONText.canonical(instruction)
    else { return }
    channel.write(line)
  }

  /// Tells every worker once; those that have not ended when the grace is over are killed.
  private func passOnInterrupt() {
    guard interruption.isRequested else { return }
    if !hasPassedOnInterrupt {
      hasPassedOnInterrupt = true
      for index in running.keys { passOnInterrupt(to: index) }
    }
    guard let left = interruption.secondsLeft(clock), left <= 0 else { return }
    for index in running.keys {
      kill(index, "it did not end within the grace period after the interrupt")
    }
  }

  private func passOnInterrupt(to index: Int) {
    running[index]?.isInterrupted = true
    // A little less than we wait ourselves, so that it can say how it ended.
    let left = max(0, (interruption.secondsLeft(clock) ?? 0) - 1)
    instruct(index, .stop(graceSeconds: left))
  }

  private func setDeadline(_ index: Int, _ event: RunEvent) {
    guard let stage = event.stage else { return }
    switch event.kind {
    case .stopping:
      // It was asked and cannot be asked again: what does not end now is ended.
      running[index]?.deadlinesSeconds[stage] = clock.monotonicSeconds() + Self.patienceSeconds
    case .started:
      running[index]?.deadlinesSeconds[stage] = supervisor.batch.pipeline[stage]?
        .timeoutNanoseconds.map {
          clock.monotonicSeconds() + Double($0) / 1e9 + Self.patienceSeconds
        }
    case .finished, .blocked: running[index]?.deadlinesSeconds[stage] = nil
    default: break
    }
  }

  /// A worker stops its overdue stages itself; one that cannot is stopped from here.
  private func killOverdue() {
    let now = clock.monotonicSeconds()
    for (index, worker) in running {
      guard let (stage, _) = worker.deadlinesSeconds.first(where: { now > $0.value }) else {
        continue
      }
      kill(index, "'\(stage)' took longer than its timeout and did not stop when asked to")
    }
  }

  private func kill(_ index: Int, _ why: String) {
    guard let child = running[index]?.child, running[index]?.killReason == nil else { return }
    running[index]?.killReason = why
    child.kill()
  }
}

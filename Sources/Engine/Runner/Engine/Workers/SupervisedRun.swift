import Captures
import Core
import Glibc
import SystemPackage

// The engine: which parts there are, and who may talk to whom.
//
// A run has one supervisor process and at most one worker process per capture.
//
//   scanmill run | WatchRuns | ArrayTaskWork      give captures, an EventSink, an Interruption
//        │
//   Supervisor ─► PreparedRun                     what is known and started before anything is written
//        │
//   SupervisedRun                                 the supervisor's loop, on the caller's thread
//        │  ├─► Admission                           cores and memory for all runs of this process
//        │  ├─► UpToDateCheck ─► KnownCapture       which captures need no worker, on a thread of its own
//        │  ├─► RunReportBuilder ─► EventSink       one entry of the report per capture
//        │  ├─► RunningWorker                       a worker as the loop sees it, with PartialReport and LifeWatch
//        │  └─► WorkerPool ─► WorkerProcess         one thread per worker: starts it, listens, waits for its end
//        │
//        │    WorkerOrder, WorkerInstruction: lines of JSON, down over a connection on standard input
//        │    WorkerMessage: lines of JSON, up over a pipe on standard output
//        │
//   Worker ─► CaptureTask                         in the worker process: lock, open, plan, process, describe
//        │
//   CaptureRun                                    the worker's loop, on its main thread
//        ├─► Planner                                what is to be done; nothing of it changes during the run
//        ├─► Scheduler, StageEvents                 how far each stage is; sends the events
//        ├─► RunningJob, Heartbeat                  limits, stalls, interrupts, signs of life
//        ├─► RetryQueue                             failed jobs that wait for another attempt
//        └─► JobRunner ─► Stage                     one job per ready stage, on a thread of ThreadPool
//                └─► Publication        staging folder to artifact, by one rename
//
// Threads. Each loop is one thread, which alone decides and alone changes its state. Every other thread puts messages
// into the Mailbox of its loop: WorkerReport and findings in SupervisedRun, JobMessage in CaptureRun. In a worker one
// more thread reads instructions, and one watches memory (MemoryWatch). Frames run on threads of HelperThreads, which
// know the CoreBudget and their stage only. A worker ends when the thread that started it ends.
//
// Who may talk to whom. Workers never talk to each other; they share the executable, the output folder and its locks.
// Jobs never talk to each other; a job reads published artifacts of its inputs and hears its own Cancellation only.
// A stage is given a StageContext and knows neither the loop nor the planner. Only SupervisedRun starts and kills
// workers. Only CaptureRun starts stages. LifeWatch, Scheduler, Planner and RetryQueue are pure.
//
// What is published where. Artifacts: by Publication in the worker, below the capture's folder, under its FileLock.
// Failures: by Failure in `.failed/`, from JobRunner, or from WorkerFailure after the end of a worker. Notes of a
// capture: by CaptureTask. Events: from StageEvents up to the EventSink of the run; RunJournal writes `events.jsonl`
// and `run.json`. The report: once, at the end, by RunReportBuilder. BatchRun runs CaptureTask without workers.

/// One run of a supervisor.
final class SupervisedRun {
  private let supervisor: Supervisor
  private var targets: [CaptureTarget]
  /// Gives more captures while the run goes on.
  private let supply: TargetSupply?
  private let run: String
  private let events: any EventSink
  private let interruption: Interruption
  private let mailbox = Mailbox<Notice>()
  private let clock: RunClock
  private let options: RunOptions

  private var builder: RunReportBuilder
  private let admission: Admission
  private let pool: WorkerPool
  private let survey: UpToDateCheck
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
  /// Captures whose worker was killed because it did not get on: they are tried once more. With the stages of
  /// that worker.
  private var wasStuck: [Int: [StageReport]] = [:]
  private var hasPassedOnInterrupt = false
  /// Whether captures of the list are likely to need a worker.
  private let isWorkLikely: Bool
  /// Whether the supply gave all that it was asked for when it was asked last.
  private var isSupplyFull = true
  /// Whether it is to be asked when another run has given a core back.
  private var isSupplyWaiting = false

  /// How long a worker may take to stop a stage that is overdue before it is killed.
  static let patienceSeconds = 5.0

  init(
    _ prepared: PreparedRun, declined: [CaptureFinder.Finding], run: String,
    events: any EventSink, interruption: Interruption
  ) {
    supervisor = prepared.supervisor
    targets = prepared.targets
    supply = prepared.supply
    self.run = run
    self.events = events
    self.interruption = interruption
    clock = supervisor.batch.clock
    var options = supervisor.batch.options
    options.outputPlace = OutputGuard(options.output)
    self.options = options
    builder = RunReportBuilder(targets, declined: declined, run: run, clock: clock, events: events)
    admission = prepared.admission
    pool = prepared.pool
    survey = UpToDateCheck(supervisor.batch, targets)
    unseen = prepared.order
    isWorkLikely = prepared.isWorkLikely
  }

  /// Messages of other threads to the one that decides.
  private enum Notice {
    case worker(Int, WorkerReport)
    case surveyed([UpToDateCheck.Finding])
  }

  func execute() -> RunReport {
    // A worker that is gone must not take us with it when we write to it.
    signal(SIGPIPE, SIG_IGN)
    while true {
      takeUp()
      if running.isEmpty, looking == nil {
        if waiting.isEmpty, unseen.isEmpty, short.isEmpty, !isSupplyWaiting { break }
        if interruption.isRequested, short.isEmpty { continue }
      }
      switch mailbox.take(withinSeconds: 0.25) {
      case .worker(let index, let report): hear(index, report)
      case .surveyed(let findings): hear(findings)
      case nil: break
      }
      passOnInterrupt()
      killOverdue()
      killStuck()
    }
    pool.dismissWaiting()
    // Only now: while workers start, another program may be about to make a folder in it.
    if let root = targets.first?.layout.root {
      removeIfEmpty(folder: OutputLayout.run(run, in: root).appending(OutputNames.logs))
    }
    ScratchFolder.end(options, run: run)
    return builder.close()
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
      let place = admission.admit(memoryBytes: needed)
    {
      waiting.removeFirst()
      running[index] = RunningWorker(
        log: LogFile(log(of: index), below: targets[index].layout.root),
        watch: LifeWatch(supervisor.limits, atSeconds: clock.monotonicSeconds()), place: place,
        share: 1)
      admitted.append(index)
    }
    // Each is told at its start what all of them leave it. They change also with those of other runs.
    giveShares()
    for index in admitted { start(index) }
    keepReady()
  }

  /// Has workers started that will be needed when others have ended. None where something is short: they would take
  /// it from those at work.
  private func keepReady() {
    if interruption.isRequested { return pool.dismissWaiting() }
    let expected =
      waiting.count + (isWorkLikely ? unseen.count : 0) + (supply != nil && isSupplyFull ? 1 : 0)
    pool.keepReady(expected, admission)
  }

  /// Asks for as many captures as could be started now, so that whoever gives them decides to the last
  /// moment what is started next.
  private func takeFromSupply() {
    isSupplyWaiting = false
    guard let supply, !interruption.isRequested, unseen.isEmpty, looking == nil else { return }
    let available = admission.cores - admission.count - waiting.count
    guard available > 0 else {
      isSupplyWaiting = running.isEmpty
      return
    }
    let given = supply(available)
    isSupplyFull = given.count == available
    for target in given {
      waiting.append(targets.count)
      targets.append(target)
      builder.append(target)
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
    pool.dismissWaiting()
    tellWaiting(index, message)
    return true
  }

  private func tellWaiting(_ index: Int, _ message: String?) {
    events.send(.waiting, clock, capture: targets[index].layout.name) { $0.message = message }
  }

  /// Tries a capture once more whose worker did not get on. `false` when it was tried before, or nothing starts.
  private func tryAgain(_ index: Int, after outcome: CaptureOutcome) -> Bool {
    guard reasonToStartNothing == nil, wasStuck[index] == nil else { return false }
    wasStuck[index] = outcome.report.stages
    tellWaiting(index, "\(Supervisor.triedOnceMore)\(outcome.report.firstMessage ?? "")")
    waiting.append(index)
    return true
  }

  private var reasonToStartNothing: RunReportBuilder.SkipReason? {
    if interruption.isRequested { return .interrupted }
    return options.failFast && builder.hasFailed ? .failFast : nil
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

  private func hear(_ findings: [UpToDateCheck.Finding]) {
    let seen = Set(findings.map(\.index))
    // Captures that were not examined because of an interrupt.
    unseen = (looking ?? []).filter { !seen.contains($0) } + unseen
    looking = nil
    for finding in findings {
      if let why = reasonToStartNothing {
        builder.skip(finding.index, why)
      } else if let report = finding.upToDate {
        builder.start(finding.index)
        builder.finish(finding.index, CaptureOutcome(report))
      } else if finding.isLocked, postponed.insert(finding.index).inserted {
        unseen.append(finding.index)
      } else {
        waiting.append(finding.index)
      }
    }
  }

  private func start(_ index: Int) {
    guard let worker = running[index] else { return }
    builder.start(index)
    let order = WorkerOrder(
      target: targets[index], pipeline: supervisor.source, options: options, run: run,
      share: worker.share, memoryLimitBytes: pool.memoryLimitBytes,
      descriptorLimit: ProcessLimits.originalDescriptors)
    pool.start(order, log: worker.log) { [mailbox] report in
      mailbox.put(.worker(index, report))
    }
  }

  private func skipWaiting(_ why: RunReportBuilder.SkipReason) {
    for index in waiting + unseen + short.takeAll().compactMap({ Int($0) }) {
      builder.skip(index, why)
    }
    waiting = []
    unseen = []
  }

  private func giveShares() {
    let shares = admission.shares
    for (index, worker) in running {
      guard let cores = shares[worker.place], cores != worker.share else { continue }
      running[index]?.share = cores
      instruct(index, .share(cores))
    }
  }

  // MARK: Listening

  private func hear(_ index: Int, _ report: WorkerReport) {
    switch report {
    case .launched(let child):
      running[index]?.child = child
      // Given up while it was started, or while another one took its place.
      if running[index]?.kill != nil { child.kill() }
    case .started(let instructions):
      // The instructions of a worker that was gone before it took its order are closed.
      running[index]?.instructions?.close()
      running[index]?.instructions = instructions
      // What had changed while it started.
      instruct(index, .share(running[index]?.share ?? 1))
      if hasPassedOnInterrupt { passOnInterrupt(to: index) }
    case .said(.begun): running[index]?.watch.hear()
    case .said(.alive): running[index]?.watch.hear()
    case .said(.event(let event)):
      // Progress is told whether there is any or not.
      if event.kind != .progress { running[index]?.watch.hear() }
      running[index]?.partialReport.hear(event)
      setDeadline(index, event)
      events.send(event)
    case .said(.exceededMemory(let used)):
      running[index]?.kill = WorkerKill(
        why: "the worker used \(used >> 20) MB of memory, but its limit is "
          + "\(pool.memoryLimitBytes >> 20) MB; raise --memory, or run fewer captures at a time with --jobs",
        code: .outOfMemory)
    case .said(.ended(let outcome)): running[index]?.outcome = outcome
    case .ended(let end): finish(index, end)
    }
  }

  private func finish(_ index: Int, _ end: Result<ProcessEnd, FileError>) {
    guard let worker = running.removeValue(forKey: index) else { return }
    worker.instructions?.close()
    admission.release(worker.place)
    let log = log(of: index)
    var outcome = worker.outcome
    if outcome != nil {
      removeIfEmpty(log)
    } else {
      let failure = WorkerFailure(
        target: targets[index], partialReport: worker.partialReport, run: run, options: options,
        clock: clock,
        log: log, isInterrupted: worker.isInterrupted)
      outcome = failure.outcome(end, kill: worker.kill)
      outcome?.exceededMemory = worker.kill?.code == .outOfMemory
      let noted = CaptureCache(of: targets[index].layout)?.requests ?? Requests()
      let asked = supervisor.batch.asking.joined(to: noted).planner.pipeline
      outcome?.report.noteOwners { asked[$0]?.partOf }
    }
    if let outcome {
      if outcome.lacksResources {
        if !takeUpLater(index, outcome.report.firstMessage) { builder.finish(index, outcome) }
      } else if worker.isStuck, worker.outcome == nil, tryAgain(index, after: outcome) {
        // The outcome is reported after the next attempt.
      } else {
        admission.allowOneMore()
        var told = outcome
        told.report.takeOver(wasStuck[index] ?? [])
        builder.finish(index, told)
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
    running[index]?.instructions?.send(instruction)
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
    let now = clock.monotonicSeconds()
    switch event.kind {
    case .stopping:
      // The stage was asked to stop before; if it does not end in time, its worker is killed.
      let timeout = running[index]?.deadlines[stage]
      running[index]?.deadlines[stage] = RunningWorker.Deadline(
        seconds: now + Self.patienceSeconds,
        isStall: timeout.map { now < $0.seconds - Self.patienceSeconds } ?? true)
    case .started:
      running[index]?.deadlines[stage] = supervisor.batch.pipeline[stage]?
        .timeoutNanoseconds.map {
          RunningWorker.Deadline(seconds: now + Double($0) / 1e9 + Self.patienceSeconds)
        }
    case .finished, .blocked: running[index]?.deadlines[stage] = nil
    default: break
    }
  }

  /// A worker stops its overdue stages itself; one that cannot is stopped from here.
  private func killOverdue() {
    let now = clock.monotonicSeconds()
    for (index, worker) in running where worker.kill == nil {
      guard let (stage, deadline) = worker.deadlines.first(where: { now > $0.value.seconds })
      else { continue }
      if deadline.isStall {
        killStuck(index, "'\(stage)' showed no progress and did not stop when asked to")
      } else {
        kill(
          index, "'\(stage)' took longer than its timeout and did not stop when asked to",
          .outOfTime)
      }
    }
  }

  /// The clock by which a worker stops its stages stands still when its threads do: this one is ours.
  private func killStuck() {
    let now = clock.monotonicSeconds()
    for (index, worker) in running where worker.kill == nil {
      guard let child = worker.child else { continue }
      let verdict = running[index]?.watch.look(
        atSeconds: now, stallSeconds: stallSeconds(worker),
        readsAndFaultsCount: worker.partialReport.running.isEmpty,
        signs: { ProcessSigns(of: child.id) })
      switch verdict {
      case .silent(let seconds):
        killStuck(
          index,
          "its worker process told of no progress for \(Int(seconds.rounded())) s")
      case .spinning?: killStuck(index, "its worker process \(verdict?.phrase ?? "")")
      case nil: break
      }
    }
  }

  /// How long a worker may make no progress before it would stop by itself what it runs; `nil`: for ever.
  private func stallSeconds(_ worker: RunningWorker) -> Double? {
    let stages = worker.partialReport.running
    if stages.isEmpty { return Double(options.stallNanoseconds ?? 600_000_000_000) / 1e9 }
    var longest = 0.0
    for stage in stages {
      let own = supervisor.batch.pipeline[stage]?.stallNanoseconds
      guard let limit = own ?? options.stallNanoseconds else { return nil }
      longest = max(longest, Double(limit) / 1e9)
    }
    return longest
  }

  /// Kills a worker that does not get on, once its log tells where its threads stand.
  private func killStuck(_ index: Int, _ why: String) {
    guard let worker = running[index], worker.kill == nil, let child = worker.child else {
      return
    }
    running[index]?.kill = WorkerKill(why: "\(why), and was killed", code: .hung)
    let kill: @Sendable () -> Void = { [log = worker.log] in
      WorkerKill.perform(child, why: why, log: log)
    }
    // Without a thread for it nothing waits for that.
    if !JobThread.start(kill) { child.kill() }
  }

  private func kill(_ index: Int, _ why: String, _ code: FailureDetail.Code? = nil) {
    guard let child = running[index]?.child, running[index]?.kill == nil else { return }
    running[index]?.kill = WorkerKill(why: why, code: code)
    child.kill()
  }
}

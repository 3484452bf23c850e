import Logging
import Engine
import Core
import Pages
import Synchronization
import SystemPackage

/// Runs of a watcher: begins one when there is work, beside those that only end what they have, and takes note of how
/// each has ended. The watcher's loop calls it on its own thread; each run has a thread of its own.
final class WatchRuns {
  private let setup: WatchSetup
  private let state: WatchState
  private let clock: RunClock
  private let log: Logger
  private let interruption: Interruption
  private let wakePipe: WakePipe
  private let pauses: PauseTracker
  private let writes: WriteReporter
  /// In the order in which they began: the last one may be given more, those before it only end what they have.
  private var runs: [StartedRun] = []
  /// What runs that go on side by side share; `nil` while none does.
  private var coordinator: AdmissionCoordinator?
  /// The exit codes that the captures of ended runs ask for.
  private(set) var codes: Set<Int> = []

  init(
    _ setup: WatchSetup, _ state: WatchState, _ pauses: PauseTracker, _ writes: WriteReporter,
    clock: RunClock, log: Logger, interruption: Interruption, wakePipe: WakePipe
  ) {
    self.setup = setup
    self.state = state
    self.pauses = pauses
    self.writes = writes
    self.clock = clock
    self.log = log
    self.interruption = interruption
    self.wakePipe = wakePipe
  }

  /// Whether none is going on.
  var isEmpty: Bool { runs.isEmpty }

  /// Begins a run when there is something for it to do and a core to do it with, unless one still takes captures.
  func open() {
    guard runs.last?.supply.isOpen != true, !interruption.isRequested else { return }
    guard coordinator?.hasFreeCore != false, state.hasWork else { return }
    let work = state.with { $0.work }
    do {
      let journal = try RunJournal(root: setup.output, clock: clock)
      try journal.begin(work.context, pipeline: work.pipelineText)
      let supply = WatchSupply(state, run: journal.id, work: work, most: setup.settings.mostInRun)
      let run = StartedRun(journal, supply)
      let events = EventFan([journal, CaptureEventLog(log), supply])
      let (interruption, wakePipe) = (interruption, wakePipe)
      let coordinator = coordinator ?? work.supervisor.makeCoordinator()
      let isStarted = JobThread.start {
        let report = work.supervisor.run(
          supply: supply, coordinator: coordinator, run: journal.id, events: events, interruption: interruption)
        run.end(report)
        wakePipe.wake()
      }
      guard isStarted else {
        throw FileError(.resourceTemporarilyUnavailable, path: "thread", operation: "make")
      }
      self.coordinator = coordinator
      runs.append(run)
      writes.note(.runs, "runs/", nil)
    } catch {
      pauses.noteOutputTrouble("\(error)")
      state.with { $0.hold = .output }
      writes.note(.runs, "runs/", "nothing can be processed: \(error)")
    }
  }

  /// Lets no run take more captures: what it has at work ends with the pipeline that it began with.
  func closeSupplies() {
    for run in runs { run.supply.close() }
  }

  /// Takes note of those that have ended.
  ///
  /// - Parameters:
  ///   - unrecognized: what of STAGING is no capture, for their reports.
  ///   - heard: given each report once it is written.
  func closeEnded(
    unrecognized: () -> [RunReport.Unrecognized], heard: (RunReport) -> Void
  ) {
    for run in runs {
      guard var report = run.report else { continue }
      runs.removeAll { $0 === run }
      report.unrecognized = unrecognized()
      report.totals.unrecognized = report.unrecognized.count
      finish(run, report)
      heard(report)
    }
    // What the machine has to give is looked at anew when nothing of it is in use.
    if runs.isEmpty { coordinator = nil }
  }

  private func finish(_ run: StartedRun, _ report: RunReport) {
    do {
      try writes.reserve.writing { try run.journal.finish(report) }
      writes.note(.runs, OutputNames.events, run.journal.lost)
      if run.journal.lost != nil { codes.insert(ExitStatus.cannotWrite) }
    } catch {
      pauses.noteOutputTrouble("\(error)")
      log.error("\(error)")
      codes.insert(ExitStatus.cannotWrite)
    }
    state.giveBack(run.supply.takeRest())
    if !report.captures.isEmpty { codes.insert(report.exit) }
  }
}

/// A run on a thread of its own, and its report once it is over.
private final class StartedRun: Sendable {
  let journal: RunJournal
  let supply: WatchSupply
  private let ended = Mutex<RunReport?>(nil)

  init(_ journal: RunJournal, _ supply: WatchSupply) {
    self.journal = journal
    self.supply = supply
  }

  func end(_ report: RunReport) { ended.withLock { $0 = report } }

  /// Once it is over.
  var report: RunReport? { ended.withLock { $0 } }
}

/// Tells in the log of a watcher about captures as they start and end, trouble, and why something that was made before
/// is made again. The journal of the run has all of it.
final class CaptureEventLog: EventSink {
  /// What was decided about the stages of one capture.
  private struct Plan {
    /// Reasons in the order of the stages, with these.
    var again: [(reason: Reason, stages: [String])] = []
    var isNew = true
    var isTold = false

    mutating func note(_ event: RunEvent) {
      guard event.action == .run, let reason = event.reason, let stage = event.stage else {
        if event.action == .upToDate { isNew = false }
        return
      }
      if reason != .neverBuilt { isNew = false }
      if let index = again.firstIndex(where: { $0.reason == reason }) {
        again[index].stages.append(stage)
      } else {
        again.append((reason, [stage]))
      }
    }

    /// `input-changed: color, tables; input-rebuilt: preview`.
    var words: String {
      again.map { "\($0.reason.rawValue): \($0.stages.joined(separator: ", "))" }
        .joined(separator: "; ")
    }
  }

  private let log: Logger
  private let events: EventLog
  private let plans = Mutex<[String: Plan]>([:])

  init(_ log: Logger) {
    self.log = log
    events = EventLog(log)
  }

  func send(_ event: RunEvent) {
    let capture = event.capture ?? ""
    switch event.kind {
    case .captureStarted, .retried, .stopping, .waiting, .locksNotShared:
      events.send(event)
    case .planned:
      plans.withLock { $0[capture, default: Plan()].note(event) }
    case .started: tell(of: capture, isOver: false)
    case .captureFinished:
      tell(of: capture, isOver: true)
      events.send(event)
    // Failures of captures are told by `AttentionLog`, with the cause that decides.
    default: break
    }
  }

  /// Tells once, before the first stage runs, why a capture with earlier results is processed again; at its end, that
  /// there was nothing to make.
  private func tell(of capture: String, isOver: Bool) {
    let words = plans.withLock { plans -> String? in
      guard let plan = plans[capture] else { return nil }
      if isOver { plans[capture] = nil } else { plans[capture]?.isTold = true }
      return plan.isNew || plan.isTold ? nil : plan.words
    }
    guard let words else { return }
    if words.isEmpty {
      log.info("up to date, nothing is made again", metadata: ["capture": "\(capture)"])
    } else {
      log.info("made again", metadata: ["capture": "\(capture)", "why": "\(words)"])
    }
  }
}

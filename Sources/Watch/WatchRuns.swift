import Captures
import Core
import Engine
import Logging
import Pages
import Synchronization
import SystemPackage

/// Runs of a watcher: begins one when there is work, beside those that only end what they have, and takes note of how
/// each has ended. The watcher's loop calls it on its own thread; each run has a thread of its own.
final class WatchRuns {
  private let state: WatchState
  private let pauses: PauseTracker
  private let writes: WriteReporter
  /// In the order in which they began: the last one may be given more, those before it only end what they have.
  private var runs: [WatchSupply] = []
  /// What runs that go on side by side share; `nil` while none does.
  private var admission: Admission?
  /// The exit codes that the captures of ended runs ask for.
  private(set) var codes: Set<Int> = []

  init(_ state: WatchState, _ pauses: PauseTracker, _ writes: WriteReporter) {
    self.state = state
    self.pauses = pauses
    self.writes = writes
  }

  /// Whether none is going on.
  var isEmpty: Bool { runs.isEmpty }

  /// Begins a run when there is something for it to do and a core to do it with, unless one still takes captures.
  func open() {
    guard runs.last?.isOpen != true, !state.interruption.isRequested else { return }
    guard admission?.hasFreeCore != false, state.hasWork else { return }
    let work = state.with { $0.work }
    do {
      let journal = try RunJournal(root: state.setup.output, clock: state.clock)
      try journal.begin(work.context, pipeline: work.pipelineText)
      let run = WatchSupply(state, journal, work)
      let events = EventFan([journal, CaptureEventLog(state.log), run])
      let admission = admission ?? work.supervisor.makeAdmission()
      let isStarted = JobThread.start { [state] in
        let prepared = work.supervisor.prepare(supply: { run.next($0) }, admission: admission)
        let report = prepared.run(
          run: journal.id, events: events, interruption: state.interruption)
        run.end(report.withoutInnerStages)
        state.handle.wake()
      }
      guard isStarted else {
        throw FileError(.resourceTemporarilyUnavailable, path: "thread", operation: "make")
      }
      self.admission = admission
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
    for run in runs { run.close() }
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
      // To a watcher it was no attempt: it waits, as after an interrupt.
      let waiting = run.outOfDisk
      for index in report.captures.indices where waiting.contains(report.captures[index].id) {
        report.captures[index].outcome = .interrupted
      }
      report.totals = RunTotals(
        report.captures, unrecognized: report.unrecognized.count, seconds: report.totals.seconds)
      finish(run, report)
      heard(report)
    }
    // What the machine has to give is looked at anew when nothing of it is in use.
    if runs.isEmpty { admission = nil }
  }

  private func finish(_ run: WatchSupply, _ report: RunReport) {
    do {
      try writes.reserve.writing { try run.journal.finish(report) }
      writes.note(.runs, OutputNames.events, run.journal.lost)
      if run.journal.lost != nil { codes.insert(ExitStatus.cannotWrite) }
    } catch {
      pauses.noteOutputTrouble("\(error)")
      state.log.error("\(error)")
      codes.insert(ExitStatus.cannotWrite)
    }
    state.giveBack(run.takeRest())
    if !report.captures.isEmpty { codes.insert(report.exit) }
  }
}

/// Tells in the log of a watcher about captures as they start and end, trouble, and why one with results is processed
/// again. The journal of the run has all of it.
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
      log.info("processed again", metadata: ["capture": "\(capture)", "why": "\(words)"])
    }
  }
}

/// A run of a watcher on a thread of its own, by the pipeline that it began with: what it is given and hears, and its
/// report once it is over.
///
/// A run takes no more once it has been given all that one may hold, was closed, or would be given a capture once more
/// that is to be tried again; the next one begins then, beside it, and does not wait for what is still at work.
final class WatchSupply: ReportSink {
  let journal: RunJournal
  private let work: WatchWork
  private let watchState: WatchState
  /// How many captures it takes: a run that went on for days would hold a report of every one in memory.
  private let most: Int
  private let state = Mutex(
    (
      given: Set<CaptureLocation>(), isClosed: false, open: Set<CaptureLocation>(),
      outOfDisk: Set<String>(), report: RunReport?.none
    ))

  init(_ watchState: WatchState, _ journal: RunJournal, _ work: WatchWork) {
    self.watchState = watchState
    self.journal = journal
    self.work = work
    most = watchState.setup.settings.mostInRun
  }

  /// Once it is over.
  var report: RunReport? { state.withLock { $0.report } }

  func end(_ report: RunReport) { state.withLock { $0.report = report } }

  /// Whether it may be given more.
  var isOpen: Bool { state.withLock { !$0.isClosed && $0.given.count < most } }

  /// Ids of captures that wait again because the disk of the output was full.
  var outOfDisk: Set<String> { state.withLock { $0.outOfDisk } }

  /// Closes the supply: the run takes no more.
  func close() { state.withLock { $0.isClosed = true } }

  func next(_ wanted: Int) -> [CaptureTarget] {
    let (available, given) = state.withLock {
      ($0.isClosed ? 0 : min(wanted, most - $0.given.count), $0.given)
    }
    guard available > 0 else { return [] }
    let targets = watchState.take(available, besides: given) { location in
      state.withLock { state in
        state.given.insert(location)
        state.open.insert(location)
      }
    }
    if targets.isEmpty, watchState.hasWork(only: given) { close() }
    return targets
  }

  /// A worker that did not get on, and whose capture is tried once more, is in no report.
  func send(_ event: RunEvent) {
    guard event.kind == .waiting, event.message?.hasPrefix(Supervisor.triedOnceMore) == true
    else { return }
    watchState.with { $0.tally.workersStuck += 1 }
  }

  /// How a capture has ended.
  func send(_ outcome: CaptureOutcome) {
    if let location = watchState.end(outcome, run: journal.id, work: work) {
      let report = outcome.report
      state.withLock { state in
        state.open.remove(location)
        if report.ranOutOfDisk, !location.isGone { state.outOfDisk.insert(report.id) }
      }
    }
  }

  /// Takes the captures that the run was given and has not come to.
  func takeRest() -> [CaptureLocation] {
    state.withLock { state in
      defer { state.open = [] }
      return Array(state.open)
    }
  }
}

/// Files of the watcher's own that could not be written: how often, whether they can be by now, and when
/// it is told again.
///
/// The first failure of a kind is told at once, later ones again and again with pauses that double, from ten
/// seconds up to an hour: a log that is read in the morning has the last hour's, and no line per look.
struct WriteFailures {
  /// What is written.
  enum Kind: String, CaseIterable, Sendable {
    /// The file of `--metrics`.
    case metrics
    /// `.scanmill/` of the output and of captures.
    case notes
    /// `index.html` and the pages of captures.
    case pages
    /// `runs/`.
    case runs
  }

  private struct Entry {
    var count = 0
    /// Failures since it could last be written.
    var inARow = 0
    /// The time of the last message on the monotonic clock.
    var toldSeconds = 0.0
    var pauseSeconds = 0.0
    var lastText = ""
  }

  private static let firstPauseSeconds = 10.0
  private static let longestPauseSeconds = 3600.0

  /// The messages by kind and file.
  private var entries: [String: Entry] = [:]

  /// Failures since the start.
  func count(_ kind: Kind) -> Int {
    entries.reduce(0) { $1.key.hasPrefix("\(kind.rawValue) ") ? $0 + $1.value.count : $0 }
  }

  /// Whether something could not be written when it was last tried.
  var areFailing: Bool { entries.values.contains { $0.inARow > 0 } }

  /// Takes note of a failure.
  ///
  /// - Parameter file: which of its kind, by a name that stays the same.
  /// - Returns: what is to be told now; `nil`: nothing, it was told a short while ago.
  mutating func failed(
    _ kind: Kind, _ file: String, _ problem: String, nowSeconds: Double
  ) -> String? {
    let key = "\(kind.rawValue) \(file)"
    var entry = entries[key] ?? Entry()
    entry.count += 1
    entry.inARow += 1
    defer { entries[key] = entry }
    let isNews = entry.inARow == 1 || entry.lastText != problem
    entry.lastText = problem
    if isNews {
      entry.pauseSeconds = Self.firstPauseSeconds
    } else {
      guard nowSeconds - entry.toldSeconds >= entry.pauseSeconds else { return nil }
      entry.pauseSeconds = min(2 * entry.pauseSeconds, Self.longestPauseSeconds)
    }
    entry.toldSeconds = nowSeconds
    return entry.inARow == 1
      ? "\(file): \(problem)" : "\(file): \(problem) (\(entry.inARow) times in a row)"
  }

  /// Takes note that it was written.
  ///
  /// - Returns: what is to be told now; `nil`: nothing, it could always be.
  mutating func succeeded(_ kind: Kind, _ file: String) -> String? {
    let key = "\(kind.rawValue) \(file)"
    guard let entry = entries[key], entry.inARow > 0 else { return nil }
    entries[key]?.inARow = 0
    return
      "\(file): can be written again, after \(Plural.text(entry.inARow, "failure"))"
  }
}

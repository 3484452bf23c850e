import FoundationEssentials
import Logging
import Output
import Parallel
import Runner
import Storage
import Synchronization
import SystemPackage

/// When pages are written and the night is reported. Both go on beside the watcher, one at a time.
///
/// The watcher's loop asks it to attend to what is due, and has it tell what became of it.
struct ReportScheduler {
  private let setup: WatchSetup
  private let state: WatchState
  private let writes: WriteReporter
  private let clock: RunClock
  private let log: Logger
  private let wakePipe: WakePipe
  /// When the watcher began, on the monotonic clock.
  private let startedSeconds: Double
  private let printer: ReportPrinter
  private let isBusy = Flag()
  private let outcomes = Outcomes()
  private var lastSeconds = -Double.infinity
  /// When the night is reported next, nanoseconds since 1970.
  private var reportAtNanoseconds: Int64?

  /// Pages are written at most this often while something changes.
  private static let pauseSeconds = 300.0
  private static let fileName = OutputNames.reported

  private struct Reported: Codable {
    /// Nanoseconds since 1970.
    var lastNanoseconds: Int64
  }

  private final class Flag: Sendable {
    private let value = Mutex(false)
    var isSet: Bool { value.withLock { $0 } }
    func set(_ new: Bool) { value.withLock { $0 = new } }
  }

  /// What became of something that was written beside the watcher.
  private struct Outcome: Sendable {
    var kind: WriteFailures.Kind
    var file: String
    /// `nil`: it was written.
    var problem: String?
  }

  private final class Outcomes: Sendable {
    private let all = Mutex<[Outcome]>([])
    func add(_ kind: WriteFailures.Kind, _ file: String, _ problem: String?) {
      all.withLock { $0.append(Outcome(kind: kind, file: file, problem: problem)) }
    }
    func take() -> [Outcome] {
      all.withLock { all in
        defer { all = [] }
        return all
      }
    }
  }

  init(
    _ setup: WatchSetup, _ state: WatchState, _ writes: WriteReporter, clock: RunClock,
    log: Logger, wakePipe: WakePipe, startedSeconds: Double
  ) {
    self.setup = setup
    self.state = state
    self.writes = writes
    self.clock = clock
    self.log = log
    self.wakePipe = wakePipe
    self.startedSeconds = startedSeconds
    printer = ReportPrinter(program: setup.program, output: setup.output)
    guard let daily = setup.reportAt, !setup.isOnce else { return }
    let now = FileStamp.nowNanoseconds()
    let last = NotesFile.read(Reported.self, Self.fileName, ofOutput: setup.output)
    // One that was missed while nobody watched is made up for; a clock that was set back tells none twice.
    reportAtNanoseconds = Self.near(
      daily.next(afterNanoseconds: last?.lastNanoseconds ?? now), daily, now)
  }

  /// A report that would come in more than two days was reckoned by a clock that was far ahead.
  private static func near(_ at: Int64, _ daily: DailyTime, _ now: Int64) -> Int64 {
    let (wait, overflow) = at.subtractingReportingOverflow(now)
    return overflow || wait > 2 * 86_400_000_000_000 ? daily.next(afterNanoseconds: now) : at
  }

  /// Has told what has been written, or could not be, since it was last asked; in order.
  func noteOutcomes() {
    for outcome in outcomes.take() {
      writes.note(outcome.kind, outcome.file, outcome.problem)
      if outcome.problem != nil, outcome.kind == .pages {
        // Else nobody would try again before something changes.
        state.with { $0.hasChanged = true }
      }
    }
  }

  /// Seconds until something is due, or what goes on should be asked about; at most an hour.
  var secondsUntilDue: Double {
    var seconds = Double.infinity
    if let at = reportAtNanoseconds {
      seconds = max(0, Double(at - FileStamp.nowNanoseconds()) / 1e9)
    }
    // An hour at most: wall clocks are set.
    return isBusy.isSet ? 1 : min(seconds, 3600)
  }

  /// Starts what is due.
  mutating func attend() {
    guard !isBusy.isSet, !setup.isOnce else { return }
    let now = FileStamp.nowNanoseconds()
    if let at = reportAtNanoseconds, let daily = setup.reportAt {
      reportAtNanoseconds = Self.near(at, daily, now)
    }
    if let at = reportAtNanoseconds, now >= at, let daily = setup.reportAt {
      reportAtNanoseconds = daily.next(afterNanoseconds: now)
      if let bytes = try? JSONEncoder().encode(Reported(lastNanoseconds: now)) {
        _ = writes.write(Array(bytes), as: Self.fileName)
      }
      start(isNight: true)
    } else if clock.monotonicSeconds() - lastSeconds >= Self.pauseSeconds,
      state.with({ $0.hasChanged })
    {
      start(isNight: false)
    }
  }

  private mutating func start(isNight: Bool) {
    lastSeconds = clock.monotonicSeconds()
    state.with { $0.hasChanged = false }
    isBusy.set(true)
    let (printer, setup, log, isBusy, wakePipe) = (printer, setup, log, isBusy, wakePipe)
    let outcomes = outcomes
    let isStarted = JobThread.start {
      Self.report(printer, setup, log, outcomes, sinceSeconds: nil, notifies: isNight)
      isBusy.set(false)
      wakePipe.wake()
    }
    if !isStarted { isBusy.set(false) }
  }

  /// At the end of `--once`, and before it ends.
  func finish() {
    let passed = clock.monotonicSeconds() - startedSeconds
    Self.report(printer, setup, log, outcomes, sinceSeconds: sinceSeconds(passed), notifies: true)
  }

  /// `nil`: since the last noon, which is before this watcher began.
  private func sinceSeconds(_ passed: Double) -> Int? {
    guard let noon = DailyTime("12:00") else { return nil }
    let now = FileStamp.nowNanoseconds()
    let began = now - Int64(passed * 1e9)
    return noon.next(afterNanoseconds: began) <= now ? Int(passed) + 60 : nil
  }

  private static func report(
    _ printer: ReportPrinter, _ setup: WatchSetup, _ log: Logger, _ outcomes: Outcomes,
    sinceSeconds: Int?, notifies: Bool
  ) {
    outcomes.add(
      .pages, "the pages",
      printer.pages(sinceSeconds: sinceSeconds).map { "could not be written: \($0)" })
    guard notifies, let command = setup.notify else { return }
    let (json, problem) = printer.json(sinceSeconds: sinceSeconds)
    if let problem {
      log.error("--notify: \(problem)")
      return
    }
    let folder = setup.output.appending(NotesFile.folderName)
    let said = LogFile(folder.appending("notify.log"), below: setup.output)
    do {
      try said.withDescriptor { _ in }
      outcomes.add(.notes, "notify.log", nil)
    } catch {
      outcomes.add(.notes, "notify.log", "\(error)")
    }
    if let problem = Notification(command).send(
      json, page: setup.output.appending("index.html"), log: said)
    {
      log.error("\(problem)")
    }
  }
}

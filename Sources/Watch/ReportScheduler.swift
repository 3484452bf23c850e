import FoundationEssentials
import Logging
import Engine
import Core
import Synchronization
import SystemPackage
import Glibc

/// When pages are written and the night is reported. Both go on beside the watcher, one at a time.
///
/// The watcher's loop asks it to attend to what is due, and has it tell what became of it.
struct ReportScheduler {
  private let state: WatchState
  private let writes: WriteReporter
  private let printer: ReportPrinter
  /// What became of something that was written beside the watcher; without a problem it was written.
  private let outcomes = Mailbox<(kind: WriteFailures.Kind, file: String, problem: String?)>()
  private var lastSeconds = -Double.infinity
  private var lastCountSeconds = -Double.infinity
  /// The due time of which it was told that it cannot be met.
  private var warnedDue: String?
  /// When the night is reported next, nanoseconds since 1970.
  private var reportAtNanoseconds: Int64?

  /// Longest time between two readings of the output, seconds; else five times what a reading takes, so that at most a
  /// fifth of the time is spent on it beside the pages.
  private static let mostCountSeconds = 10.0

  /// The member of the note of the last report: nanoseconds since 1970.
  private static let noted = "lastNanoseconds"

  private var setup: WatchSetup { state.setup }
  private var clock: RunClock { state.clock }
  private var outputCounts: OutputCounts { state.outputCounts }
  private var isReporting: Bool { state.with { $0.isReporting } }

  init(_ state: WatchState, _ writes: WriteReporter) {
    self.state = state
    self.writes = writes
    let setup = state.setup
    var printer = ReportPrinter(program: setup.program, output: setup.output)
    printer.keptNights = setup.keptNights
    self.printer = printer
    guard let daily = setup.reportAt, !setup.isOnce else { return }
    let now = FileStamp.nowNanoseconds()
    let last = NotesFile.read(
      [String: Int64].self, OutputNames.reported, ofOutput: setup.output)
    // A report missed while no watcher ran is sent now; a clock set back sends none twice.
    reportAtNanoseconds = Self.near(
      daily.next(afterNanoseconds: last?[Self.noted] ?? now), daily, now)
  }

  /// A report that would come in more than two days was reckoned by a clock that was far ahead.
  private static func near(_ at: Int64, _ daily: DailyTime, _ now: Int64) -> Int64 {
    let (wait, overflow) = at.subtractingReportingOverflow(now)
    return overflow || wait > 2 * 86_400_000_000_000 ? daily.next(afterNanoseconds: now) : at
  }

  /// Has told what has been written, or could not be, since it was last asked; in order.
  func noteOutcomes() {
    for outcome in outcomes.takeAll() {
      writes.note(outcome.kind, outcome.file, outcome.problem)
      if outcome.problem != nil, outcome.kind == .pages {
        // Else it would not be tried again before something changes.
        state.with { $0.hasChanged = true }
      }
    }
  }

  /// Seconds until something is due, or what goes on should be asked about; at most an hour.
  var secondsUntilDue: Double {
    let seconds = isReporting ? 1 : secondsUntilPages
    guard outputCounts.isStale, !outputCounts.isBeingRead, !setup.isOnce else { return seconds }
    return min(seconds, max(0, countDueSeconds - clock.monotonicSeconds()))
  }

  /// At most an hour: wall clocks are set.
  private var secondsUntilPages: Double {
    var seconds = 3600.0
    if let at = reportAtNanoseconds {
      seconds = min(seconds, max(0, Double(at - FileStamp.nowNanoseconds()) / 1e9))
    }
    if let renewal = setup.renewsPageSeconds {
      let passed = clock.monotonicSeconds() - lastSeconds
      seconds = min(seconds, max(0, Double(renewal) - passed))
      // A change since the last page shortens the wait.
      if state.with({ $0.hasChanged }) {
        seconds = min(seconds, max(0, setup.pageSeconds - passed))
      }
    }
    return seconds
  }

  /// Starts what is due.
  mutating func attend() {
    guard !setup.isOnce else { return }
    // Beside pages that are being made: metrics are to say at once what status says.
    if outputCounts.isStale, !outputCounts.isBeingRead, clock.monotonicSeconds() >= countDueSeconds
    {
      readOutput()
    }
    guard !isReporting else { return }
    let now = FileStamp.nowNanoseconds()
    if let at = reportAtNanoseconds, let daily = setup.reportAt {
      reportAtNanoseconds = Self.near(at, daily, now)
    }
    if let at = reportAtNanoseconds, now >= at, let daily = setup.reportAt {
      reportAtNanoseconds = daily.next(afterNanoseconds: now)
      if let bytes = try? JSONEncoder().encode([Self.noted: now]) {
        _ = writes.write(Array(bytes), as: OutputNames.reported)
      }
      start(notifies: true)
    } else if isPageDue {
      start(notifies: false)
    }
  }

  /// When the output may be read again, on the monotonic clock.
  private var countDueSeconds: Double {
    lastCountSeconds + min(Self.mostCountSeconds, 5 * outputCounts.readingSeconds)
  }

  private var isPageDue: Bool {
    let passed = clock.monotonicSeconds() - lastSeconds
    if let renewal = setup.renewsPageSeconds, passed >= Double(renewal) { return true }
    return passed >= setup.pageSeconds && state.with { $0.hasChanged }
  }

  /// Tells once that the time of `--due` cannot be met: in the log, on the page and by the notification.
  mutating func note(_ forecast: NightForecast?) {
    guard let forecast, forecast.dueMissed, let due = forecast.due, due != warnedDue,
      !setup.isOnce, !isReporting
    else { return }
    warnedDue = due
    let now = FileStamp.nowNanoseconds()
    state.log.warning(
      "\(forecast.dueWords(now: now) ?? "the time of --due is missed"): \(forecast.words(now: now) ?? "")"
    )
    start(notifies: true)
  }

  /// On the caller's thread: where nothing goes on beside it that would do this. Whether the output could be read in
  /// that time; else what was known counts on.
  @discardableResult
  func readOutputAtOnce(limitSeconds: Double) -> Bool {
    var printer = printer
    let end = clock.monotonicSeconds() + limitSeconds
    printer.keepWaiting = { [clock] in clock.monotonicSeconds() < end }
    return outputCounts.read(clock, printer.outputCounts)
  }

  private mutating func readOutput() {
    lastCountSeconds = clock.monotonicSeconds()
    _ = JobThread.start { [printer = stoppable, state] in
      state.outputCounts.read(state.clock, printer.outputCounts)
      state.handle.wake()
    }
  }

  /// A printer that ends when the watcher does.
  private var stoppable: ReportPrinter {
    var printer = printer
    printer.keepWaiting = { [state] in !state.with { $0.isEnding } }
    return printer
  }

  private mutating func start(notifies: Bool) {
    lastSeconds = clock.monotonicSeconds()
    lastCountSeconds = lastSeconds
    state.with { ($0.hasChanged, $0.isReporting) = (false, true) }
    let isStarted = JobThread.start {
      [printer = stoppable, state, outcomes, reserve = writes.reserve] in
      state.outputCounts.read(state.clock, printer.outputCounts)
      state.handle.wake()
      if printer.keepWaiting() {
        Self.report(
          printer, state, outcomes, reserve, sinceSeconds: nil, endSeconds: nil, notifies: notifies)
      }
      state.with { $0.isReporting = false }
      state.handle.wake()
    }
    if !isStarted { state.with { $0.isReporting = false } }
  }

  /// The last page and notification, at every end in good order.
  ///
  /// - Parameters:
  ///   - limitSeconds: how long all of it may take; `nil`: as long as ever.
  ///   - notifies: whether there is anything to tell.
  func finish(limitSeconds: Double?, notifies: Bool) {
    let start = clock.monotonicSeconds()
    state.with { $0.isEnding = true }
    // A page that is still being written could otherwise replace the last one.
    while isReporting || outputCounts.isBeingRead,
      clock.monotonicSeconds() - start < limitSeconds ?? .infinity
    {
      usleep(20_000)
    }
    Self.report(
      printer, state, outcomes, writes.reserve,
      sinceSeconds: sinceSeconds(start - state.startedSeconds),
      endSeconds: limitSeconds.map { start + $0 }, notifies: notifies)
  }

  /// `nil`: since the last noon, which is before this watcher began.
  private func sinceSeconds(_ passed: Double) -> Int? {
    guard let noon = DailyTime("12:00") else { return nil }
    let now = FileStamp.nowNanoseconds()
    let began = now - Int64(passed * 1e9)
    return noon.next(afterNanoseconds: began) <= now ? Int(passed) + 60 : nil
  }

  /// - Parameter endSeconds: when all of it is to be over, on the monotonic clock; `nil`: whenever it is.
  private static func report(
    _ printer: ReportPrinter, _ state: WatchState,
    _ outcomes: Mailbox<(kind: WriteFailures.Kind, file: String, problem: String?)>,
    _ reserve: DiskReserve, sinceSeconds: Int?, endSeconds: Double?, notifies: Bool
  ) {
    func limit(_ most: Double) -> Double {
      guard let endSeconds else { return most }
      return min(most, max(0.5, endSeconds - state.clock.monotonicSeconds()))
    }
    var pages = printer.pages(sinceSeconds: sinceSeconds, limitSeconds: limit(3600))
    if FileError.tellsOfFullDisk(pages), printer.keepWaiting() {
      // The space is for the page of the night; those of captures wait.
      let problem = reserve.using {
        printer.pages(
          sinceSeconds: sinceSeconds, limitSeconds: limit(3600),
          ofNightOnly: true)
      }
      if problem == .some(.none) {
        pages = "the disk of the output is full; only the page of the night was written"
      }
    }
    if pages != nil, !printer.keepWaiting() { return }
    outcomes.put((.pages, "the pages", pages.map { "could not be written: \($0)" }))
    guard notifies, let command = state.setup.notify else { return }
    let (json, problem) = printer.json(
      sinceSeconds: sinceSeconds, limitSeconds: limit(600))
    if let problem {
      state.log.error("--notify: \(problem)")
      return
    }
    let output = state.setup.output
    let said = LogFile(
      output.appending(OutputNames.notes).appending("notify.log"), below: output)
    do {
      try reserve.writing { try said.withDescriptor { _ in } }
      outcomes.put((.notes, "notify.log", nil))
    } catch {
      outcomes.put((.notes, "notify.log", "\(error)"))
    }
    var notification = Notification(command)
    notification.limitSeconds = limit(notification.limitSeconds)
    if let problem = notification.send(json, page: output.appending("index.html"), log: said) {
      state.log.error("\(problem)")
    }
  }
}

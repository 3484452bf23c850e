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
  private let setup: WatchSetup
  private let state: WatchState
  private let writes: WriteReporter
  private let clock: RunClock
  private let log: Logger
  private let wakePipe: WakePipe
  /// When the watcher began, on the monotonic clock.
  private let startedSeconds: Double
  private let printer: ReportPrinter
  private let outputCounts: OutputCounts
  private let isBusy = Flag()
  private let reading = Reading()
  /// What goes on beside the watcher is to end: the last pages are written next.
  private let isEnding = Flag()
  private let outcomes = Mailbox<Outcome>()
  private var lastSeconds = -Double.infinity
  private var lastCountSeconds = -Double.infinity
  /// The due time of which it was told that it cannot be met.
  private var warnedDue: String?
  /// When the night is reported next, nanoseconds since 1970.
  private var reportAtNanoseconds: Int64?

  /// Longest time between two readings of the output, seconds; else five times what a reading takes, so that at most a
  /// fifth of the time is spent on it beside the pages.
  private static let mostCountSeconds = 10.0

  private struct Reported: Codable {
    /// Nanoseconds since 1970.
    var lastNanoseconds: Int64
  }

  private final class Flag: Sendable {
    private let value = Mutex(false)
    var isSet: Bool { value.withLock { $0 } }
    func set(_ new: Bool) { value.withLock { $0 = new } }
  }

  /// The output is read by one at a time.
  private final class Reading: Sendable {
    private let turn = Mutex(())
    private let isGoingOn = Flag()
    private let seconds = Mutex(0.0)

    var isSet: Bool { isGoingOn.isSet }
    /// How long it took the last time.
    var tookSeconds: Double { seconds.withLock { $0 } }

    /// Whether the output could be read.
    @discardableResult
    func read(_ printer: ReportPrinter, _ outputCounts: OutputCounts, _ clock: RunClock) -> Bool {
      turn.withLock { _ in
        isGoingOn.set(true)
        let start = clock.monotonicSeconds()
        outputCounts.beginReading()
        let members = printer.outputCounts()
        outputCounts.take(members)
        seconds.withLock { $0 = clock.monotonicSeconds() - start }
        isGoingOn.set(false)
        return members != nil
      }
    }
  }

  /// What became of something that was written beside the watcher.
  private struct Outcome {
    var kind: WriteFailures.Kind
    var file: String
    /// `nil`: it was written.
    var problem: String?
  }

  init(
    _ setup: WatchSetup, _ state: WatchState, _ writes: WriteReporter, clock: RunClock,
    log: Logger, wakePipe: WakePipe, startedSeconds: Double, outputCounts: OutputCounts
  ) {
    self.setup = setup
    self.state = state
    self.writes = writes
    self.clock = clock
    self.log = log
    self.wakePipe = wakePipe
    self.startedSeconds = startedSeconds
    self.outputCounts = outputCounts
    var printer = ReportPrinter(program: setup.program, output: setup.output)
    printer.keptNights = setup.keptNights
    self.printer = printer
    guard let daily = setup.reportAt, !setup.isOnce else { return }
    let now = FileStamp.nowNanoseconds()
    let last = NotesFile.read(Reported.self, OutputNames.reported, ofOutput: setup.output)
    // A report missed while no watcher ran is sent now; a clock set back sends none twice.
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
    let seconds = isBusy.isSet ? 1 : secondsUntilPages
    guard outputCounts.isStale, !reading.isSet, !setup.isOnce else { return seconds }
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
    if outputCounts.isStale, !reading.isSet, clock.monotonicSeconds() >= countDueSeconds {
      readOutput()
    }
    guard !isBusy.isSet else { return }
    let now = FileStamp.nowNanoseconds()
    if let at = reportAtNanoseconds, let daily = setup.reportAt {
      reportAtNanoseconds = Self.near(at, daily, now)
    }
    if let at = reportAtNanoseconds, now >= at, let daily = setup.reportAt {
      reportAtNanoseconds = daily.next(afterNanoseconds: now)
      if let bytes = try? JSONEncoder().encode(Reported(lastNanoseconds: now)) {
        _ = writes.write(Array(bytes), as: OutputNames.reported)
      }
      start(notifies: true)
    } else if isPageDue {
      start(notifies: false)
    }
  }

  /// When the output may be read again, on the monotonic clock.
  private var countDueSeconds: Double {
    lastCountSeconds + min(Self.mostCountSeconds, 5 * reading.tookSeconds)
  }

  private var isPageDue: Bool {
    let passed = clock.monotonicSeconds() - lastSeconds
    if let renewal = setup.renewsPageSeconds, passed >= Double(renewal) { return true }
    return passed >= setup.pageSeconds && state.with { $0.hasChanged }
  }

  /// Tells once that the time of `--due` cannot be met: in the log, on the page and by the notification.
  mutating func note(_ forecast: NightForecast?) {
    guard let forecast, forecast.dueMissed, let due = forecast.due, due != warnedDue,
      !setup.isOnce, !isBusy.isSet
    else { return }
    warnedDue = due
    let now = FileStamp.nowNanoseconds()
    log.warning(
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
    return reading.read(printer, outputCounts, clock)
  }

  private mutating func readOutput() {
    lastCountSeconds = clock.monotonicSeconds()
    let (printer, outputCounts, clock) = (stoppable, outputCounts, clock)
    let (reading, wakePipe) = (reading, wakePipe)
    _ = JobThread.start {
      reading.read(printer, outputCounts, clock)
      wakePipe.wake()
    }
  }

  /// A printer that ends when the watcher does.
  private var stoppable: ReportPrinter {
    var printer = printer
    printer.keepWaiting = { [isEnding] in !isEnding.isSet }
    return printer
  }

  private mutating func start(notifies: Bool) {
    lastSeconds = clock.monotonicSeconds()
    lastCountSeconds = lastSeconds
    state.with { $0.hasChanged = false }
    isBusy.set(true)
    let (printer, setup, log, isBusy, wakePipe) = (stoppable, setup, log, isBusy, wakePipe)
    let (outcomes, outputCounts, isEnding) = (outcomes, outputCounts, isEnding)
    let (reading, clock) = (reading, clock)
    let reserve = writes.reserve
    let isStarted = JobThread.start {
      reading.read(printer, outputCounts, clock)
      wakePipe.wake()
      if !isEnding.isSet {
        Self.report(
          printer, setup, log, outcomes, reserve, sinceSeconds: nil, notifies: notifies,
          limits: Limits(),
          keepWaiting: { !isEnding.isSet })
      }
      isBusy.set(false)
      wakePipe.wake()
    }
    if !isStarted { isBusy.set(false) }
  }

  /// The last page and notification, at every end in good order.
  ///
  /// - Parameters:
  ///   - limitSeconds: how long all of it may take; `nil`: as long as ever.
  ///   - notifies: whether there is anything to tell.
  func finish(limitSeconds: Double?, notifies: Bool) {
    let start = clock.monotonicSeconds()
    isEnding.set(true)
    // A page that is still being written could otherwise replace the last one.
    while isBusy.isSet || reading.isSet,
      clock.monotonicSeconds() - start < limitSeconds ?? .infinity
    {
      usleep(20_000)
    }
    let passed = start - startedSeconds
    var limits = Limits()
    if let limitSeconds {
      limits = Limits(endSeconds: start + limitSeconds, clock: clock)
    }
    Self.report(
      printer, setup, log, outcomes, writes.reserve, sinceSeconds: sinceSeconds(passed),
      notifies: notifies,
      limits: limits, keepWaiting: { true })
  }

  /// How long parts of a report may take.
  private struct Limits {
    var endSeconds: Double?
    var clock = RunClock.system

    func seconds(atMost most: Double) -> Double {
      guard let endSeconds else { return most }
      return min(most, max(0.5, endSeconds - clock.monotonicSeconds()))
    }
  }

  /// `nil`: since the last noon, which is before this watcher began.
  private func sinceSeconds(_ passed: Double) -> Int? {
    guard let noon = DailyTime("12:00") else { return nil }
    let now = FileStamp.nowNanoseconds()
    let began = now - Int64(passed * 1e9)
    return noon.next(afterNanoseconds: began) <= now ? Int(passed) + 60 : nil
  }

  private static func report(
    _ printer: ReportPrinter, _ setup: WatchSetup, _ log: Logger, _ outcomes: Mailbox<Outcome>,
    _ reserve: DiskReserve, sinceSeconds: Int?, notifies: Bool, limits: Limits,
    keepWaiting: () -> Bool
  ) {
    var pages = printer.pages(
      sinceSeconds: sinceSeconds, limitSeconds: limits.seconds(atMost: 3600))
    if FileError.tellsOfFullDisk(pages), keepWaiting() {
      // The space is for the page of the night; those of captures wait.
      let problem = reserve.using {
        printer.pages(
          sinceSeconds: sinceSeconds, limitSeconds: limits.seconds(atMost: 3600),
          ofNightOnly: true)
      }
      if problem == .some(.none) {
        pages = "the disk of the output is full; only the page of the night was written"
      }
    }
    if pages != nil, !keepWaiting() { return }
    outcomes.put(
      Outcome(
        kind: .pages, file: "the pages", problem: pages.map { "could not be written: \($0)" }))
    guard notifies, let command = setup.notify else { return }
    let (json, problem) = printer.json(
      sinceSeconds: sinceSeconds, limitSeconds: limits.seconds(atMost: 600))
    if let problem {
      log.error("--notify: \(problem)")
      return
    }
    let folder = setup.output.appending(OutputNames.notes)
    let said = LogFile(folder.appending("notify.log"), below: setup.output)
    do {
      try reserve.writing { try said.withDescriptor { _ in } }
      outcomes.put(Outcome(kind: .notes, file: "notify.log"))
    } catch {
      outcomes.put(Outcome(kind: .notes, file: "notify.log", problem: "\(error)"))
    }
    var notification = Notification(command)
    notification.limitSeconds = limits.seconds(atMost: notification.limitSeconds)
    if let problem = notification.send(
      json, page: setup.output.appending("index.html"), log: said)
    {
      log.error("\(problem)")
    }
  }
}

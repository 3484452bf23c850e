import Captures
import Core
import Engine
import FoundationEssentials
import Logging
import Pages
import Synchronization
import SystemPackage
import Glibc

/// Watches a staging folder and processes what arrives: the loop, in which each part has its turn.
///
/// One thread, the caller's, scans and decides; a run goes on beside it on a thread of its own and is given captures
/// one by one (`WatchSupply`). When it is full the next one begins, beside what it still has at work. Everything that
/// must outlive a kill stands in the output: results by their artifacts, attempts by `triage.json`, the rest by
/// `watch.json` and `looks.json`, each replaced in one step.
public final class Watcher {
  private let setup: WatchSetup
  private let clock: RunClock
  private let log: Logger
  private let interruption: Interruption
  private let makeWork: () throws -> WatchWork
  private let lock: FileLock
  private let state: WatchState
  private let service: SystemdNotifier
  private let notices = INotifyWatcher()
  private let intake: StagingIntake
  private let resolver: IntakeResolver
  private let contents: ContentCheck
  private let pauses: PauseTracker
  private let runs: WatchRuns
  private let writes: WriteReporter
  private let publisher: WatchPublisher
  private var reports: ReportScheduler
  private var schedule: ScanSchedule
  private var attention: AttentionLog
  /// `nil`: STAGING has not been scanned yet.
  private var lastScan: WatchPublisher.Scan?
  private var looksForRenamed = true
  /// With `isOnce`: since when there is nothing to do but to compare contents, on the monotonic clock.
  private var onlyComparesSince: Double?
  public var handle: WatcherHandle { state.handle }
  /// Reports of runs that have ended, for whoever prints them.
  public var heard: (RunReport) -> Void = { _ in }
  /// With `isOnce`, at the end: how all captures stand, in one sentence, and whether there is more to read about it: a
  /// capture that is not done or needs a person, or a folder that is not recognized; at last whether the exit code is that
  /// of a failure.
  public var summedUp: (_ sentence: String, _ hasMore: Bool, _ hasFailed: Bool) -> Void = {
    _, _, _ in
  }

  /// Takes the watcher's lock of the output. Throws `WatchRefusal`, and `FileError` where the output cannot
  /// be written.
  public init(
    _ setup: WatchSetup, clock: RunClock, log: Logger, interruption: Interruption,
    makeWork: @escaping () throws -> WatchWork
  ) throws {
    self.setup = setup
    self.clock = clock
    self.log = log
    self.interruption = interruption
    self.makeWork = makeWork
    let work = try makeWork()
    lock = try Self.lock(setup.output)
    let previous = WatchRecord(ofOutput: setup.output).flatMap {
      $0.staging == setup.staging.text ? $0 : nil
    }
    state = try WatchState(
      setup, work, previous: previous, clock: clock, log: log, interruption: interruption)
    service = SystemdNotifier.ofThisProcess()
    attention = AttentionLog(log, isQuiet: setup.isQuiet)
    schedule = ScanSchedule(setup.settings, isOnce: setup.isOnce)
    intake = StagingIntake(state, notices)
    resolver = IntakeResolver(state: state, service: service)
    contents = ContentCheck(state)
    writes = WriteReporter(state)
    pauses = PauseTracker(state, periods: previous?.holds ?? [], reserve: writes.reserve)
    runs = WatchRuns(state, pauses, writes)
    publisher = WatchPublisher(state, writes, service)
    reports = ReportScheduler(state, writes)
  }

  private static func lock(_ output: FilePath) throws -> FileLock {
    let notes = try HeldFolder.making(following: output).makeFolder(OutputNames.notes)
    guard
      let lock = try FileLock(
        in: notes, name: OutputNames.watchLock,
        holder: "scanmill watch (process \(getpid()) on \(ProcessHome.hostName))")
    else {
      let path = output.appending(OutputNames.notes).appending(OutputNames.watchLock)
      throw WatchRefusal.locked(
        "\(output.shown): \(FileLock.holder(of: path) ?? "another watcher") already watches"
          + " for this output")
    }
    return lock
  }

  // MARK: The loop

  /// Watches until it is interrupted, or with `isOnce` until what was ready is processed. The exit code
  /// that the captures ask for.
  public func watch() -> Int {
    // Before the first scan: at a tree of thousands that takes longer than service managers wait.
    service.ready()
    publisher.checkMetrics()
    if setup.isOnce, setup.metrics != nil {
      reports.readOutputAtOnce(limitSeconds: Self.mostReadSeconds)
    }
    while true {
      service.alive()
      reloadIfAsked()
      closeRuns()
      if interruption.isRequested { break }
      if schedule.isDue(atSeconds: clock.monotonicSeconds(), changeSeconds: { changeSeconds }) {
        scan()
      }
      pauses.update()
      runs.open()
      if runs.isEmpty { contents.attend() }
      noteOutcomes()
      publish()
      reports.note(publisher.forecast)
      reports.attend()
      if setup.isOnce, isOnceOver() { break }
      wait()
    }
    service.stopping()
    return end()
  }

  private func reloadIfAsked() {
    guard handle.takeReload() else { return }
    service.reloading()
    do {
      let work = try makeWork()
      state.with {
        $0.work = work
        $0.disk.expected = work.needs
        $0.intake.judgeAgain()
      }
      // Captures in work finish with the old pipeline; nothing waits for them.
      runs.closeSupplies()
      schedule.noteChange()
      log.notice("the pipeline was read again")
    } catch {
      log.error("the pipeline cannot be used, the old one is kept: \(error)")
    }
    service.ready()
  }

  private func scan() {
    let start = clock.monotonicSeconds()
    schedule.begin()
    let work = state.with { $0.work }
    intake.scan(work, startedSeconds: start)
    // Before questions are answered: what was removed is told by one and the same scan.
    resolver.noticeOutputs()
    resolver.assignTargets(&looksForRenamed)
    if resolver.noticeMarks() { schedule.noteChange() }
    resolver.resolve(work)
    state.lookIntoNew()
    let now = clock.monotonicSeconds()
    lastScan = (clock.wallText(), Date.now.timeIntervalSince1970)
    schedule = state.with { [schedule] state in
      schedule.ended(
        startedSeconds: start, atSeconds: now, entries: state.intake.entries.values)
    }
  }

  private func closeRuns() {
    runs.closeEnded(unrecognized: { intake.unrecognized }, heard: heard)
  }

  /// What went wrong beside the watcher's own thread.
  private func noteOutcomes() {
    reports.noteOutcomes()
    for problem in state.takeAll(\.unwritten) { writes.note(.notes, OutputNames.triage, problem) }
  }

  private func publish(isLast: Bool = false) {
    if lastScan != nil { attention.update(state.with { $0.intake }) }
    publisher.publish(
      lastScan, unrecognized: intake.unrecognized, pauses: pauses, isLast: isLast)
  }

  // MARK: The end

  /// How long `--once` goes on comparing the content of captures that are done by their stamps, when there is nothing
  /// else to do. What is left is done as well; the next watcher compares it.
  private static let onceComparesSeconds = 60.0

  private func isOnceOver() -> Bool {
    guard runs.isEmpty else { return false }
    let (isQueued, isHeld) = state.with { (!$0.intake.queue.isEmpty, $0.hold != nil) }
    guard schedule.isFrozen, !isQueued || isHeld else {
      onlyComparesSince = nil
      return false
    }
    if contents.isOver { return true }
    let now = clock.monotonicSeconds()
    let since = onlyComparesSince ?? now
    onlyComparesSince = since
    return now - since >= Self.onceComparesSeconds
  }

  /// What the last page and notification may take after the grace.
  public static let lastWordsSeconds = 20.0
  /// How long reading the output may take: that of tens of thousands of captures on a slow disk.
  private static let mostReadSeconds = 600.0

  /// Lets runs end, and says how things stand.
  private func end() -> Int {
    while !runs.isEmpty {
      closeRuns()
      service.alive()
      if !runs.isEmpty { handle.wait(seconds: 0.25) }
    }
    // Results of captures that were renamed while they were processed are moved.
    resolver.moveResults()
    state.with { $0.intake.settleGone() }
    intake.tellDisappeared()
    // Marks of captures that were processed since the last scan count too.
    _ = resolver.noticeMarks()
    publish(isLast: true)
    let sumsUp = setup.isOnce && !interruption.isRequested
    if sumsUp || (state.outputCounts.isStale && setup.metrics != nil) {
      // Results tell about captures that are in STAGING no more.
      let isRead = reports.readOutputAtOnce(
        limitSeconds: sumsUp ? Self.mostReadSeconds : Self.lastWordsSeconds / 4)
      if sumsUp, !isRead {
        log.warning(
          "the output could not be read within \(Int(Self.mostReadSeconds)) s to sum up; `scanmill status` tells of all"
        )
      }
      publish(isLast: true)
    }
    var codes = runs.codes
    if sumsUp { codes.formUnion(endOnce()) }
    // Whatever ended it: who reads the page later is to see how it was at the end.
    reports.finish(
      limitSeconds: interruption.secondsLeft(clock).map { $0 + Self.lastWordsSeconds },
      notifies: lastScan != nil)
    noteOutcomes()
    writes.reserve.giveUp()
    if setup.isOnce, !interruption.isRequested, writes.failures.areFailing {
      codes.insert(ExitStatus.cannotWrite)
    }
    return ExitStatus.gravest(codes)
  }

  /// Sums up what `--once` has done, and reports it. The exit codes that this asks for.
  private func endOnce() -> Set<Int> {
    var codes: Set<Int> = []
    let (trouble, isOpen, summary) = state.with {
      [outputCounts = state.outputCounts] state -> (Int?, Bool, WatchSummary) in
      let isOpen = WatchSummary(state).isOpen
      let summary = WatchSummary(state, outputCounts: outputCounts)
      if state.intake.stagingTrouble != nil { return (ExitStatus.noCapture, isOpen, summary) }
      let isStuck =
        (state.hold == .disk || state.hold == .output) && !state.intake.queue.isEmpty
      return (isStuck ? ExitStatus.cannotWrite : nil, isOpen, summary)
    }
    if let trouble { codes.insert(trouble) }
    let unrecognized = intake.unrecognized.count
    let needsPerson = summary.totals.needsPerson > 0
    let hasFailed = isOpen || setup.needsPersonIsFailure && needsPerson
    if hasFailed { codes.insert(ExitStatus.jobFailed) }
    summedUp(
      summary.sentence(unrecognized: unrecognized, hold: pauses.text),
      isOpen || needsPerson || unrecognized > 0, hasFailed || trouble != nil)
    return codes
  }

  // MARK: Waiting

  /// When time alone changes something.
  private var changeSeconds: Double? {
    state.with { [schedule] in schedule.changeSeconds(of: $0.intake.entries.values) }
  }

  private func wait() {
    let now = clock.monotonicSeconds()
    var seconds = schedule.secondsUntilDue(atSeconds: now, changeSeconds: changeSeconds)
    if let watchdog = service.watchdogSeconds { seconds = min(seconds, watchdog / 3) }
    if let window = setup.window, state.with({ $0.hold == .window }) {
      seconds = min(
        seconds, window.secondsUntilOpen(atNanoseconds: FileStamp.nowNanoseconds()) + 0.01)
    }
    if schedule.isFrozen { seconds = 1 }
    seconds = max(0.01, min(seconds, reports.secondsUntilDue))
    guard let notices else { return handle.wait(seconds: seconds) }
    _ = notices.wait(seconds: seconds, orReadable: handle.descriptor)
    handle.drain()
    if notices.hasChanged { schedule.noteChange() }
  }
}

/// Why a watcher does not begin.
public enum WatchRefusal: Error {
  case locked(String)
}

/// Compares the content of captures that are done by names, sizes and times of modification, one after the other,
/// while no run goes on: after a change of owner or mode, or when a backup was restored. Then that of marked captures
/// whose files have other times than those that were marked. No worker is started.
///
/// The watcher's loop calls it on its own thread; what is compared is read on another one.
final class ContentCheck: Sendable {
  private let state: WatchState
  private let isBusy = Mutex(false)
  /// Marks that were compared, whether that could be noted or not.
  private let compared = Mutex<Set<MarkRecord>>([])

  init(_ state: WatchState) { self.state = state }

  private var nextMark: MarkRecord? {
    let marks = state.with { $0.unprovenMarks }
    return marks.isEmpty ? nil : compared.withLock { known in marks.first { !known.contains($0) } }
  }

  /// Whether nothing is compared and nothing is left to be.
  var isOver: Bool {
    !isBusy.withLock { $0 } && state.with { $0.intake.nextUnverified == nil } && nextMark == nil
  }

  /// Begins with the next capture, unless one is being read.
  func attend() {
    guard !isBusy.withLock({ $0 }) else { return }
    let (next, work) = state.with { ($0.intake.nextUnverified, $0.work) }
    guard let next, let target = next.target else { return attendToMark() }
    begin { [state] in
      let isSame = work.supervisor.batch.upToDateByContent(target) != nil
      let signature = Self.signature(of: target.layout) {
        isSame
          && work.supervisor.batch.upToDate([target], byTimes: true).first.flatMap(\.self) != nil
      }
      state.with { state in
        state.intake.verified(next, isSame: isSame, signature)
        state.hasChanged = true
      }
    }
  }

  /// Does it on another thread, where there is one, and tells the watcher when it is done.
  private func begin(_ body: @escaping @Sendable () -> Void) {
    isBusy.withLock { $0 = true }
    let isStarted = JobThread.start { [self] in
      body()
      isBusy.withLock { $0 = false }
      state.handle.wake()
    }
    if !isStarted { isBusy.withLock { $0 = false } }
  }

  private func attendToMark() {
    guard let mark = nextMark else { return }
    begin { [self] in
      Marking(ofOutput: state.setup.output, holder: "scanmill watch").compare(mark)
      compared.withLock { _ = $0.insert(mark) }
    }
  }

  /// The signature of results that have been compared; `nil`: they are to be asked about again.
  ///
  /// What was removed while the content was compared is in no signature, so they are looked at once more; what goes
  /// during that look makes another signature than the one that was taken before it.
  static func signature(of layout: OutputLayout, ifStillDone: () -> Bool) -> OutputSignature? {
    let taken = OutputSignature(of: layout)
    return ifStillDone() ? taken : nil
  }
}

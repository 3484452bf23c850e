import Captures
import FoundationEssentials
import Logging
import Output
import Parallel
import Pipeline
import Processes
import Reports
import Runner
import Storage
import Synchronization
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Watches a staging folder and processes what arrives.
///
/// One thread, the caller's, looks and decides; a run goes on beside it on a thread of its own and is given
/// captures one by one (`WatchSupply`). When it is full the next one begins, beside what it still has at work. Everything that must outlive a kill stands in the output: results by
/// their artifacts, attempts by `triage.json`, the rest by `watch.json` and `looks.json`, each replaced in
/// one step.
public final class Watcher {
  let setup: WatchSetup
  let clock: RunClock
  let log: Logger
  let interruption: Interruption
  let watchState: WatchState
  let looker: StagingScanner
  let service: SystemdNotifier
  let wakePipe: WakePipe
  let makeWork: () throws -> WatchWork
  let lock: FileLock
  let notices: INotifyWatcher?
  let started: String
  let startedSeconds: Double
  /// In the order in which they began: the last one may be given more, those before it only end what they have.
  var runs: [RunInProgress] = []
  /// What runs that go on side by side share.
  var desk: AdmissionCoordinator?
  var recorded: [CaptureLocation: FirstSeenRecords.Look]
  var told: Set<String> = []
  var lastLookSeconds = -Double.infinity
  var lookTook = 0.0
  var lastLook = ""
  var lastLookWallSeconds = 0.0
  var isNoticed = true
  var looksDone = 0
  var outputTrouble: (text: String, untilSeconds: Double)?
  var holds: [WatchRecord.PauseReason]
  var published: (record: WatchRecord, seconds: Double)?
  var publishedLooks: FirstSeenRecords?
  var codes: Set<Int> = []
  /// When `--once` has waited long enough for what it saw first.
  var onceEndsSeconds: Double?
  var isFrozen = false
  var pages: ReportScheduler
  public let handle: WatcherHandle
  var unreadable: [FileError] = []
  var holdText: String?
  var troubles = WriteFailures()
  /// Reports of runs that have ended, for whoever prints them.
  public var heard: (RunReport) -> Void = { _ in }
  /// With `isOnce`, at the end: how all captures stand, in one sentence.
  public var summedUp: (String) -> Void = { _ in }

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
    let notes = try HeldFolder.making(following: setup.output).makeFolder(NotesFile.folderName)
    guard
      let lock = try FileLock(
        in: notes, name: WatchRecord.lockName,
        holder: "scanmill watch (process \(getpid()) on \(ProcessHome.hostName))",
        keepWaiting: { _ in false })
    else {
      let path = setup.output.appending(NotesFile.folderName).appending(WatchRecord.lockName)
      throw WatchRefusal.locked(
        "\(setup.output.shown): \(FileLock.holder(of: path) ?? "another watcher") already watches"
          + " for this output")
    }
    self.lock = lock
    let previous = WatchRecord(ofOutput: setup.output).flatMap {
      $0.staging == setup.staging.text ? $0 : nil
    }
    let wakePipe = try WakePipe()
    self.wakePipe = wakePipe
    handle = WatcherHandle(wakePipe)
    watchState = WatchState(
      IntakeState(setup.settings, previous: previous), work, settings: setup.settings,
      output: setup.output, takesLocked: setup.isOnce, clock: clock, wake: wakePipe.wake)
    looker = StagingScanner(setup.staging)
    notices = INotifyWatcher()
    service = SystemdNotifier.ofThisProcess()
    started = clock.wallText()
    startedSeconds = clock.monotonicSeconds()
    recorded = FirstSeenRecords.known(inOutput: setup.output, nowSeconds: startedSeconds)
    holds = previous?.holds ?? []
    pages = ReportScheduler(setup, clock: clock)
    watchState.with { $0.tally.lastDoneSeconds = previous?.lastDoneSeconds }
  }

  // MARK: The loop

  /// Watches until it is interrupted, or with `isOnce` until what was ready is processed. The exit code
  /// that the captures ask for.
  public func watch() -> Int {
    // Before the first look: at a tree of thousands that takes longer than service managers wait.
    service.ready()
    checkMetrics()
    while true {
      service.alive()
      reloadIfAsked()
      closeRuns()
      if interruption.isRequested { break }
      if isLookDue { look() }
      hold()
      openRun()
      hearOfPages()
      publish()
      pages.attend(self)
      if setup.isOnce, isOnceOver { break }
      wait()
    }
    service.stopping()
    return end()
  }

  /// Lets the run end, and says how things stand.
  func end() -> Int {
    while !runs.isEmpty {
      closeRuns()
      service.alive()
      if !runs.isEmpty { wakePipe.wait(seconds: 0.25) }
    }
    publish(isLast: true)
    if setup.isOnce, !interruption.isRequested {
      let trouble = watchState.with { state -> Int? in
        if state.intake.stagingTrouble != nil { return ExitStatus.noCapture }
        return (state.hold == .disk || state.hold == .output) && !state.intake.queue.isEmpty
          ? ExitStatus.cannotWrite : nil
      }
      if let trouble { codes.insert(trouble) }
      let summary = watchState.with {
        WatchSummary($0.intake, hold: $0.hold, locked: $0.locked, tally: $0.tally)
      }
      if summary.isOpen { codes.insert(ExitStatus.jobFailed) }
      summedUp(summary.sentence(unrecognized: unrecognized.count, hold: holdText))
      pages.finish(self)
      hearOfPages()
      if troubles.areFailing { codes.insert(ExitStatus.cannotWrite) }
    }
    return ExitStatus.gravest(codes)
  }

  var now: Double { clock.monotonicSeconds() }

  var isOnceOver: Bool {
    guard runs.isEmpty else { return false }
    let (isQueued, isHeld) = watchState.with { (!$0.intake.queue.isEmpty, $0.hold != nil) }
    return isFrozen && (!isQueued || isHeld)
  }

  // MARK: Waiting

  func wait() {
    var seconds = lastLookSeconds + setup.settings.pollSeconds - now
    if let due = dueSeconds {
      seconds = min(seconds, max(due, lastLookSeconds + lookGapSeconds) - now)
    }
    if isNoticed { seconds = min(seconds, lastLookSeconds + lookGapSeconds - now) }
    if let watchdog = service.watchdogSeconds { seconds = min(seconds, watchdog / 3) }
    if let window = setup.window, watchState.with({ $0.hold == .window }) {
      seconds = min(
        seconds, window.secondsUntilOpen(atNanoseconds: FileStamp.nowNanoseconds()) + 0.01)
    }
    if isFrozen { seconds = 1 }
    seconds = min(seconds, pages.secondsUntilDue(self))
    seconds = max(0.01, seconds)
    if let notices {
      _ = notices.wait(seconds: seconds, orReadable: wakePipe.descriptor)
      wakePipe.drain()
      if notices.hasChanged { isNoticed = true }
    } else {
      wakePipe.wait(seconds: seconds)
    }
  }
}

/// Why a watcher does not begin.
public enum WatchRefusal: Error, Sendable {
  case locked(String)
}

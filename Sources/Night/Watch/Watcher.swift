import Captures
import FoundationEssentials
import Logging
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
/// captures one by one (`WatchFloor`). Everything that must outlive a kill stands in the output: results by
/// their artifacts, attempts by `triage.json`, the rest by `watch.json` and `looks.json`, each replaced in
/// one step.
public final class Watcher {
  let setup: WatchSetup
  let clock: RunClock
  let log: Logger
  let interruption: Interruption
  let floor: WatchFloor
  let looker: StagingLooker
  let service: ServiceManager
  let bell: Bell
  private let makeWork: () throws -> WatchWork
  private let lock: FileLock
  private let notices: FolderNotices?
  private let started: String
  let startedSeconds: Double
  private var current: RunInProgress?
  private var recorded: [StagingPlace: LookRecords.Look]
  private var told: Set<String> = []
  private var lastLookSeconds = -Double.infinity
  private var lookTook = 0.0
  private var lastLook = ""
  private var lastLookWallSeconds = 0.0
  private var isNoticed = true
  private var looksDone = 0
  private var outputTrouble: (text: String, untilSeconds: Double)?
  private var holds: [WatchRecord.Hold]
  private var published: (record: WatchRecord, seconds: Double)?
  private var publishedLooks: LookRecords?
  private var codes: Set<Int> = []
  /// When `--once` has waited long enough for what it saw first.
  private var onceEndsSeconds: Double?
  private var isFrozen = false
  private var pages: PageSchedule
  public let bellpull: Bellpull
  /// Reports of runs that have ended, for whoever prints them.
  public var heard: (RunReport) -> Void = { _ in }

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
    let bell = try Bell()
    self.bell = bell
    bellpull = Bellpull(bell)
    floor = WatchFloor(
      StagingBook(setup.settings, previous: previous), work, settings: setup.settings,
      output: setup.output, takesLocked: setup.isOnce, clock: clock, wake: bell.ring)
    looker = StagingLooker(setup.staging)
    notices = FolderNotices()
    service = ServiceManager.ofThisProcess()
    started = clock.wallText()
    startedSeconds = clock.monotonicSeconds()
    recorded = LookRecords.known(inOutput: setup.output, nowSeconds: startedSeconds)
    holds = previous?.holds ?? []
    pages = PageSchedule(setup, clock: clock)
    floor.with { $0.tally.lastDoneSeconds = previous?.lastDoneSeconds }
  }

  /// What other threads may ask of it.
  public final class Bellpull: Sendable {
    private let bell: Bell
    private let isReloading = Mutex(false)

    init(_ bell: Bell) {
      self.bell = bell
    }

    /// To read the pipeline again.
    public func reload() {
      isReloading.withLock { $0 = true }
      bell.ring()
    }

    /// To look whether everything is to end.
    public func ring() { bell.ring() }

    func takeReload() -> Bool {
      isReloading.withLock { flag in
        defer { flag = false }
        return flag
      }
    }
  }

  // MARK: The loop

  /// Watches until it is interrupted, or with `isOnce` until what was ready is processed. The exit code
  /// that the captures ask for.
  public func watch() -> Int {
    // Before the first look: at a tree of thousands that takes longer than service managers wait.
    service.ready()
    while true {
      service.alive()
      reloadIfAsked()
      closeRun()
      if interruption.isRequested { break }
      if isLookDue { look() }
      hold()
      openRun()
      publish()
      pages.attend(self)
      if setup.isOnce, isOnceOver { break }
      wait()
    }
    service.stopping()
    return end()
  }

  /// Lets the run end, and says how things stand.
  private func end() -> Int {
    while let run = current {
      _ = run
      closeRun()
      service.alive()
      if current != nil { bell.wait(seconds: 0.25) }
    }
    publish(isLast: true)
    if setup.isOnce, !interruption.isRequested {
      let trouble = floor.with { state -> Int? in
        if state.book.stagingTrouble != nil { return ExitStatus.noCapture }
        return (state.hold == .disk || state.hold == .output) && !state.book.queue.isEmpty
          ? ExitStatus.cannotWrite : nil
      }
      if let trouble { codes.insert(trouble) }
      pages.finish(self)
    }
    return ExitStatus.gravest(codes)
  }

  private var now: Double { clock.monotonicSeconds() }

  private var isOnceOver: Bool {
    guard current == nil else { return false }
    let (isQueued, isHeld) = floor.with { (!$0.book.queue.isEmpty, $0.hold != nil) }
    return isFrozen && (!isQueued || isHeld)
  }

  // MARK: Looking

  private var isLookDue: Bool {
    if isFrozen { return false }
    let since = now - lastLookSeconds
    if since >= setup.settings.pollSeconds { return true }
    guard since >= lookGapSeconds else { return false }
    return isNoticed || dueSeconds.map { now >= $0 } ?? false
  }

  /// Looks cost what they cost: never more than a twentieth of the time.
  private var lookGapSeconds: Double {
    min(setup.settings.pollSeconds, max(0.2, 20 * lookTook))
  }

  /// When time alone changes something.
  private var dueSeconds: Double? {
    let settings = setup.settings
    let ends = onceEndsSeconds
    return floor.with { state in
      var due = ends ?? .infinity
      for entry in state.book.entries.values {
        switch entry.phase {
        case .moving where !entry.stamp.isTransferring && !entry.isOnItsWay:
          due = min(due, entry.sinceSeconds + settings.settleSeconds)
        case .incomplete: due = min(due, entry.sinceSeconds + settings.patienceSeconds)
        case .failed(let trouble): due = min(due, trouble.retryAtSeconds ?? .infinity)
        default: continue
        }
      }
      return due == .infinity ? nil : due
    }
  }

  private func look() {
    let start = now
    isNoticed = false
    let work = floor.with { $0.work }
    do throws(FileError) {
      let snapshot = try looker.look(work.batch)
      let recorded = recorded
      let text = clock.wallText()
      floor.with {
        $0.book.take(
          snapshot, nowSeconds: start, nowText: text,
          recorded: { place, stamp in
            recorded[place].flatMap {
              $0.digest == stamp.digest ? (seconds: $0.seconds, text: $0.text) : nil
            }
          })
      }
      self.recorded = [:]
      if let notices {
        notices.watch(snapshot.folders)
        if let limit = notices.limit { tell("inotify: \(limit)", .notice) }
      } else {
        tell(
          "inotify is not to be had; changes are seen every \(setup.settings.pollSeconds) s",
          .notice)
      }
      for error in snapshot.unreadable { tell("\(error)", .warning) }
      unreadable = snapshot.unreadable
    } catch {
      floor.with { $0.book.takeTrouble("STAGING cannot be read: \(error)") }
    }
    assign(work)
    judge(work)
    noticeOutputs()
    lastLookSeconds = start
    lookTook = now - start
    lastLook = clock.wallText()
    lastLookWallSeconds = Date.now.timeIntervalSince1970
    looksDone += 1
    if setup.isOnce { freezeIfSeen(start) }
  }

  private(set) var unreadable: [FileError] = []

  /// `--once` waits for its second look once.
  private func freezeIfSeen(_ start: Double) {
    let settle = setup.settings.settleSeconds
    let moving = floor.with { state in
      state.book.entries.values.contains { entry in
        if case .moving = entry.phase {
          return !entry.stamp.isTransferring && !entry.isOnItsWay
            && entry.sinceSeconds <= (onceEndsSeconds.map { $0 - settle } ?? start)
        }
        return false
      }
    }
    if onceEndsSeconds == nil { onceEndsSeconds = start + settle }
    if !moving || start >= (onceEndsSeconds ?? start) + settle { isFrozen = true }
  }

  /// Folders in the output, where one is lacking.
  private func assign(_ work: WatchWork) {
    let open = floor.with { state in
      state.book.entries.values.contains { $0.recognition != nil && $0.target == nil }
        ? state.book.unassigned : []
    }
    guard !open.isEmpty else { return }
    let targets = Ownership(root: setup.output).resolve(open.compactMap(\.recognition))
    var given: [StagingPlace: CaptureTarget] = [:]
    for (entry, target) in zip(open, targets) { given[entry.place] = target }
    floor.with { [given] in $0.book.assign(given) }
  }

  /// In blocks, so that the service manager hears of us in between.
  private func judge(_ work: WatchWork) {
    let judge = StagingJudge(work: work, triage: Triage(settings: setup.settings), clock: clock)
    let questions = floor.with { [now] in $0.book.questions(nowSeconds: now) }
    let block = 256
    for start in stride(from: 0, to: questions.count, by: block) {
      if interruption.isRequested { return }
      let answers = judge.answers(Array(questions[start..<min(questions.count, start + block)]))
      floor.with { [answers] state in
        for (question, answer) in answers { state.book.answer(question, answer) }
        if !answers.isEmpty { state.hasChanged = true }
      }
      service.alive()
    }
  }

  /// Results that somebody has removed or made anew.
  private func noticeOutputs() {
    let done = floor.with { state in
      state.book.entries.values.compactMap { entry -> (StagingPlace, OutputLayout, FileStamp?)? in
        guard case .done = entry.phase, let target = entry.target else { return nil }
        return (entry.place, target.layout, entry.outputStamp)
      }
    }
    for (place, layout, stamp) in done where StagingJudge.outputStamp(layout) != stamp {
      floor.with { $0.book.judgeAgain(place) }
      isNoticed = true
    }
  }

  // MARK: Runs

  private func hold() {
    let room = DiskRoom.free(of: setup.output)
    let isOpen = setup.window?.isOpen(atNanoseconds: FileStamp.nowNanoseconds()) ?? true
    var text: String?
    if let trouble = outputTrouble, now < trouble.untilSeconds { text = trouble.text }
    let kind = floor.with { [room, text] state -> WatchFloor.Hold? in
      let kind: WatchFloor.Hold? =
        if state.book.stagingTrouble != nil {
          .staging
        } else if text != nil {
          .output
        } else if let room, !room.isEnough {
          .disk
        } else if !isOpen {
          .window
        } else {
          nil
        }
      state.hold = kind
      return kind
    }
    holdText =
      switch kind {
      case nil: nil
      case .staging: floor.with { $0.book.stagingTrouble }
      case .output: text
      case .disk: room.map(Self.text)
      case .window: setup.window.map { "outside of \($0)" }
      }
    noteHold(kind)
  }

  private(set) var holdText: String?

  private static func text(_ room: DiskRoom) -> String {
    if room.bytes < room.neededBytes {
      return
        "the disk of the output is full: \(room.bytes >> 20) MiB are free, nothing is started below"
        + " \(room.neededBytes >> 20) MiB"
    }
    return "the file system of the output has no more inodes"
  }

  /// Times at which captures waited for something else than a worker, for the timeline of the night.
  private func noteHold(_ kind: WatchFloor.Hold?) {
    let isWaiting = floor.with { !$0.book.queue.isEmpty } || kind == .staging
    let open = holds.last.flatMap { $0.to == nil ? $0 : nil }
    let wanted = isWaiting ? kind?.rawValue : nil
    if open?.kind == wanted { return }
    if open != nil { holds[holds.count - 1].to = clock.wallText() }
    if let wanted {
      holds.append(WatchRecord.Hold(kind: wanted, from: clock.wallText()))
      if holds.count > 200 { holds.removeFirst(holds.count - 200) }
    }
    if let text = holdText, wanted != nil, kind != .window {
      log.warning("nothing is started: \(text)")
    } else if open != nil, open?.kind != "window" {
      log.notice("work goes on")
    }
  }

  private func openRun() {
    guard current == nil, !interruption.isRequested else { return }
    floor.with { $0.given = 0 }
    guard floor.hasWork else { return }
    let work = floor.with { $0.work }
    do {
      let journal = try RunJournal(root: setup.output, clock: clock)
      try journal.begin(work.context, pipeline: work.pipelineText)
      floor.with { $0.run = journal.id }
      let log = WatchLog(log: EventLog(log))
      let run = RunInProgress(journal)
      let events = EventFan([journal, log, floor])
      let (floor, interruption, bell) = (floor, interruption, bell)
      let isStarted = JobThread.start {
        let report = work.supervisor.run(
          supply: floor, run: journal.id, events: events, interruption: interruption)
        run.end(report)
        bell.ring()
      }
      guard isStarted else {
        throw FileError(.resourceTemporarilyUnavailable, path: "thread", operation: "make")
      }
      current = run
    } catch {
      outputTrouble = ("\(error)", now + setup.settings.pollSeconds)
      floor.with { $0.hold = .output }
      tell("nothing can be processed: \(error)", .error)
    }
  }

  private func closeRun() {
    guard let run = current, var report = run.report else { return }
    current = nil
    report.unrecognized = unrecognized
    report.totals.unrecognized = report.unrecognized.count
    do {
      try run.journal.finish(report)
    } catch {
      outputTrouble = ("\(error)", now + setup.settings.pollSeconds)
      log.error("\(error)")
      codes.insert(ExitStatus.cannotWrite)
    }
    // Captures that it was given and did not come to.
    floor.with { state in
      for entry in state.book.running { state.book.giveBack(entry.place) }
      state.isClosed = false
      state.hasChanged = true
    }
    if !report.captures.isEmpty { codes.insert(report.exit) }
    heard(report)
  }

  private func reloadIfAsked() {
    guard bellpull.takeReload() else { return }
    service.reloading()
    do {
      let work = try makeWork()
      floor.with {
        $0.work = work
        // What runs ends with the old one.
        $0.isClosed = current != nil
        $0.book.judgeAgain()
      }
      isNoticed = true
      log.notice("the pipeline was read again")
    } catch {
      log.error("the pipeline cannot be used, the old one is kept: \(error)")
    }
    service.ready()
  }

  // MARK: Telling

  var unrecognized: [RunReport.Unrecognized] {
    let strangers = floor.with { state in
      state.book.entries.values.compactMap { entry -> RunReport.Unrecognized? in
        guard case .stranger = entry.phase else { return nil }
        return RunReport.Unrecognized(path: entry.place.folder.shown, holds: entry.holds)
      }
    }
    let hidden = unreadable.map {
      RunReport.Unrecognized(path: $0.path.shown, holds: ["cannot be read: \($0.reason)"])
    }
    return (strangers + hidden).sorted { $0.path < $1.path }
  }

  /// Once.
  private func tell(_ text: String, _ level: Logger.Level) {
    guard told.count < 10_000, told.insert(text).inserted else { return }
    log.log(level: level, "\(text)")
  }

  private func publish(isLast: Bool = false) {
    let snapshot = floor.with {
      WatchSummary($0.book, hold: $0.hold, locked: $0.locked, tally: $0.tally)
    }
    var record = WatchRecord(
      staging: setup.staging.text, started: started, lastLook: lastLook,
      waiting: snapshot.waiting, unrecognized: unrecognized)
    record.stagingTrouble = snapshot.stagingTrouble
    record.holdsBecause = holdText
    record.known = snapshot.known
    record.lastDoneSeconds = snapshot.tally.lastDoneSeconds
    record.holds = holds
    if isLast { record.ended = clock.wallText() }
    // Unmounted: what was known stays as it was.
    guard looksDone > 0 else { return }
    var comparable = record
    comparable.lastLook = published?.record.lastLook ?? ""
    let isDue = published.map { now - $0.seconds >= 60 || $0.record != comparable } ?? true
    if isDue || isLast {
      do {
        try NotesFile.write(JSONText.pretty(record), WatchRecord.fileName, ofOutput: setup.output)
        published = (record, now)
      } catch {
        tell("\(error)", .error)
      }
      let looks = floor.with { LookRecords($0.book.entries.values) }
      if looks != publishedLooks,
        (try? NotesFile.write(
          JSONText.canonical(looks), LookRecords.fileName, ofOutput: setup.output))
          != nil
      {
        publishedLooks = looks
      }
    }
    service.status(snapshot.sentence(unrecognized: record.unrecognized.count, hold: holdText))
    writeMetrics(snapshot, unrecognized: record.unrecognized.count)
  }

  private func writeMetrics(_ summary: WatchSummary, unrecognized: Int) {
    guard let file = setup.metrics else { return }
    var metrics = NightMetrics(lookTimestampSeconds: lastLookWallSeconds, version: setup.version)
    metrics.captures = summary.states
    metrics.unrecognized = unrecognized
    metrics.doneTimestampSeconds = summary.tally.lastDoneSeconds
    metrics.queueOldestSeconds = summary.oldestSince.map { max(0, now - $0) } ?? 0
    metrics.failuresTotal = summary.tally.failures
    metrics.framesTotal = summary.tally.frames
    metrics.bytesWrittenTotal = summary.tally.bytesWritten
    metrics.cpuSecondsTotal = summary.tally.cpuSeconds
    metrics.outputFreeBytes = DiskRoom.free(of: setup.output)?.bytes ?? 0
    do {
      try MetricsText(metrics).write(to: file)
    } catch {
      tell("--metrics: \(error)", .error)
    }
  }

  // MARK: Waiting

  private func wait() {
    var seconds = lastLookSeconds + setup.settings.pollSeconds - now
    if let due = dueSeconds {
      seconds = min(seconds, max(due, lastLookSeconds + lookGapSeconds) - now)
    }
    if isNoticed { seconds = min(seconds, lastLookSeconds + lookGapSeconds - now) }
    if let watchdog = service.watchdogSeconds { seconds = min(seconds, watchdog / 3) }
    if let window = setup.window, floor.with({ $0.hold == .window }) {
      seconds = min(
        seconds, window.secondsUntilOpen(atNanoseconds: FileStamp.nowNanoseconds()) + 0.01)
    }
    if isFrozen { seconds = 1 }
    seconds = min(seconds, pages.secondsUntilDue(self))
    seconds = max(0.01, seconds)
    if let notices {
      _ = notices.wait(seconds: seconds, orReadable: bell.descriptor)
      bell.hush()
      if notices.hasChanged { isNoticed = true }
    } else {
      bell.wait(seconds: seconds)
    }
  }
}

/// Why a watcher does not begin.
public enum WatchRefusal: Error, Sendable {
  case locked(String)
}

/// A run of a watcher, on a thread of its own.
final class RunInProgress: Sendable {
  let journal: RunJournal
  private let ended = Mutex<RunReport?>(nil)

  init(_ journal: RunJournal) {
    self.journal = journal
  }

  func end(_ report: RunReport) { ended.withLock { $0 = report } }

  /// Once it is over.
  var report: RunReport? { ended.withLock { $0 } }
}

/// Wakes the watcher's thread from others.
final class Bell: Sendable {
  private let pipe: Pipe

  init() throws(FileError) {
    pipe = try Pipe()
    for end in [pipe.reading, pipe.writing] {
      _ = fcntl(end.rawValue, F_SETFL, O_NONBLOCK)
    }
  }

  deinit {
    try? pipe.reading.close()
    try? pipe.writing.close()
  }

  var descriptor: Int32 { pipe.reading.rawValue }

  @Sendable func ring() {
    var byte: UInt8 = 1
    // A full pipe wakes as well.
    _ = write(pipe.writing.rawValue, &byte, 1)
  }

  /// Whether it had been rung.
  @discardableResult
  func hush() -> Bool {
    var bytes = [UInt8](repeating: 0, count: 512)
    var isRung = false
    while read(pipe.reading.rawValue, &bytes, bytes.count) > 0 { isRung = true }
    return isRung
  }

  func wait(seconds: Double) {
    var place = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    poll(&place, 1, Int32((min(max(seconds, 0), 3600) * 1000).rounded(.up)))
    hush()
  }
}

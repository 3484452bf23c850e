import Captures
import FoundationEssentials
import Engine
import Core
import Logging
import Synchronization
import SystemPackage

/// What the watcher and the runs that go on share: the intake, and whether anything may be started.
///
/// Runs ask it for captures and tell it how they ended, through a `WatchSupply` each, from their own threads.
final class WatchState: Sendable {
  /// Why nothing new is started.
  enum PauseReason: String, CaseIterable {
    case window, disk, staging, output
  }

  struct State {
    var intake: IntakeState
    var hold: PauseReason?
    /// What the next run is to begin with.
    var work: WatchWork
    var tally = WatchRecord.Tally()
    /// When a capture was last done, in seconds since 1970.
    var lastDoneSeconds: Double?
    /// What captures took, oldest first.
    var costs: [WatchRecord.Cost] = []
    var disk = DiskNeeds()
    /// What captures of the queue need of the disk that is not free, by place.
    var diskWaits: [CaptureLocation: Int64] = [:]
    /// Marks of captures whose files have other times than those that were marked: their contents are to be compared.
    var unprovenMarks: [MarkRecord] = []
    /// Names of captures in the queue that another run holds.
    var locked: Set<String> = []
    /// Why notes about failures could not be written, since the last call.
    var unwritten: [String] = []
    /// Captures for which the disk was too small, since the last call.
    var fullDisk: [String] = []
    /// Whether pages are being written, or the output read for them, on another thread.
    var isReporting = false
    /// What goes on beside the watcher is to end: the last pages are written next.
    var isEnding = false
    /// Something has changed since the pages were last written.
    var hasChanged = true

    /// The last ones of all families together.
    private static let mostCosts = 400

    mutating func add(_ cost: WatchRecord.Cost) {
      costs.append(cost)
      if costs.count > Self.mostCosts { costs.removeFirst(costs.count - Self.mostCosts) }
    }

    /// What a capture is expected to write; 0: not known.
    func needed(_ entry: StagingEntry, atSeconds now: Double) -> Int64 {
      disk.needed(
        family: entry.recognition?.family.rawValue ?? "", bytes: entry.stamp.bytes, atSeconds: now)
    }

    /// Whether the disk has just refused one of its kind although nearly all of it is free.
    func isSpent(for entry: StagingEntry, atSeconds now: Double) -> Bool {
      disk.isSpent(family: entry.recognition?.family.rawValue ?? "", atSeconds: now)
    }
  }

  let setup: WatchSetup
  let clock: RunClock
  let log: Logger
  let interruption: Interruption
  /// Wakes the watcher's loop.
  let handle: WatcherHandle
  /// When the watcher began, UTC, ISO 8601.
  let started: String
  /// `started` on the monotonic clock.
  let startedSeconds: Double
  let outputCounts = OutputCounts()
  private let state: Mutex<State>

  /// - Parameter previous: what the last watcher of this STAGING noted.
  init(
    _ setup: WatchSetup, _ work: WatchWork, previous: WatchRecord?, clock: RunClock, log: Logger,
    interruption: Interruption
  ) throws(FileError) {
    handle = try WatcherHandle()
    self.setup = setup
    self.clock = clock
    self.log = log
    self.interruption = interruption
    (started, startedSeconds) = (clock.wallText(), clock.monotonicSeconds())
    var first = State(intake: IntakeState(setup.settings, previous: previous), work: work)
    first.disk.expected = work.needs
    first.tally = previous?.tally ?? WatchRecord.Tally()
    first.lastDoneSeconds = previous?.lastDoneSeconds
    first.costs = previous?.costs ?? []
    state = Mutex(first)
  }

  func with<Result>(_ body: (inout sending State) throws -> sending Result) rethrows
    -> sending Result
  {
    try state.withLock(body)
  }

  /// Has captures of the queue opened of whose families nothing is known, for what they need of the disk.
  func lookIntoNew() {
    let (known, queue) = with { ($0.disk.expected, $0.intake.queue) }
    guard var needs = known else { return }
    for entry in queue {
      if let capture = entry.recognition { needs.look(into: capture, ofBytes: entry.stamp.bytes) }
    }
    with { [needs] in $0.disk.expected?.takeGuesses(of: needs) }
  }

  /// Takes what one of the lists of names has got since this was last asked.
  func takeAll(_ list: WritableKeyPath<State, [String]>) -> [String] {
    state.withLock { state in
      defer { state[keyPath: list] = [] }
      return state[keyPath: list]
    }
  }

  // MARK: Giving

  /// At most `most` captures for a run.
  ///
  /// - Parameters:
  ///   - known: what the run was given before, which it does not get again: it tells of each capture once.
  ///   - note: told of each that it is given, before anybody else hears of it.
  func take(
    _ most: Int, besides known: Set<CaptureLocation>, note: (CaptureLocation) -> Void
  ) -> [CaptureTarget] {
    var given: [CaptureTarget] = []
    let free = setup.free
    let found = startable(most, free, besides: known)
    if found.isEmpty { return [] }
    // Marks that were set since the last scan count.
    let marks = MarkBook(ofOutput: setup.output)
    for (entry, target) in found {
      if let mark = marks.mark(of: target.layout, at: entry.location), mark.isLeftAlone {
        state.withLock { $0.intake.take(mark, at: entry.location) }
        continue
      }
      guard var claimed = Ownership(root: setup.output).claim([target]).first else { continue }
      claimed.heedsMarks = true
      let isStarted = state.withLock { state -> Bool in
        guard state.intake.entries[entry.location]?.stamp == entry.stamp,
          case .queued = state.intake.entries[entry.location]?.phase
        else { return false }
        let now = clock.monotonicSeconds()
        let needed = state.needed(entry, atSeconds: now)
        if let free, !state.disk.fits(needed, in: free) { return false }
        state.disk.begin(entry.location, needed: needed, in: free)
        state.intake.assign([entry.location: claimed])
        state.intake.start(entry.location, nowSeconds: now)
        state.hasChanged = true
        return true
      }
      if isStarted {
        note(entry.location)
        given.append(claimed)
      }
    }
    return given
  }

  /// Whether a run would be given anything.
  var hasWork: Bool { !startable(1, setup.free).isEmpty }

  /// Whether something waits that a run with these captures does not get again: another run is to begin for it.
  func hasWork(only known: Set<CaptureLocation>) -> Bool {
    let isWaiting = state.withLock { state in
      state.hold == nil && state.intake.queue.contains { known.contains($0.location) }
    }
    if isWaiting { handle.wake() }
    return isWaiting
  }

  private func startable(
    _ most: Int, _ free: FreeSpaceRule?, besides known: Set<CaptureLocation> = []
  ) -> [(StagingEntry, CaptureTarget)] {
    let now = clock.monotonicSeconds()
    let queue = state.withLock { state -> [StagingEntry] in
      guard state.hold == nil else { return [] }
      var found: [StagingEntry] = []
      for entry in state.intake.queue
      where found.count < most + 64 && !known.contains(entry.location)
        && !state.isSpent(for: entry, atSeconds: now)
      {
        guard let free else {
          found.append(entry)
          continue
        }
        if state.disk.fits(state.needed(entry, atSeconds: now), in: free) { found.append(entry) }
      }
      return found
    }
    var found: [(StagingEntry, CaptureTarget)] = []
    var locked: Set<String> = []
    for entry in queue where found.count < most {
      guard let target = entry.target else { continue }
      // Taken up when whoever has it is done; with `--once` its worker waits.
      if !setup.isOnce, FileLock.isHeld(at: target.layout.lock) {
        locked.insert(target.layout.name)
      } else {
        found.append((entry, target))
      }
    }
    state.withLock { $0.locked = locked }
    return found
  }

  // MARK: Hearing

  /// How a capture of a run has ended. Its place, if it was at work.
  func end(_ outcome: CaptureOutcome, run: String, work: WatchWork) -> CaptureLocation? {
    var report = outcome.report
    guard let entry = state.withLock({ $0.intake.entry(named: report.id) }),
      case .running(let stamp, let start) = entry.phase, let target = entry.target
    else { return nil }
    let signature = OutputSignature(of: target.layout, holding: report)
    var isKnown = true
    if signature == nil, let error = OutputSignature.unknown(report, in: target.layout) {
      report = target.failed(error)
      isKnown = false
    }
    let phase = phase(
      after: report, entry, stamp, target, run: run, work: work, isNoted: isKnown)
    let now = clock.wallText()
    let nowSeconds = clock.monotonicSeconds()
    state.withLock { [report] state in
      state.tally.add(outcome.report)
      state.hasChanged = true
      if report.hasSucceeded {
        if let family = report.family {
          var cost = WatchRecord.Cost(
            family: family, bytes: stamp.bytes,
            seconds: ((nowSeconds - start) * 1000).rounded() / 1000,
            atOnce: state.intake.running.count)
          (cost.written, cost.pipeline) = (report.bytesOfWholeRun, work.diskKey)
          state.add(cost)
        }
        state.disk.done(entry.location, family: report.family ?? "")
        state.disk.expected?.learn(target.layout)
      }
      if case .queued = phase {
        state.disk.ranOut(
          entry.location, family: entry.recognition?.family.rawValue ?? "", bytes: stamp.bytes,
          untilSeconds: nowSeconds + setup.settings.retryAfterSeconds)
        state.fullDisk.append(entry.name)
      }
      state.disk.end(entry.location)
      if let phase {
        state.intake.end(entry.location, phase, nowSeconds: clock.monotonicSeconds(), now)
        if case .done = phase {
          state.intake.noteOutput(entry.location, signature)
          state.lastDoneSeconds = Date.now.timeIntervalSince1970
        }
        if case .failed(let trouble) = phase {
          state.tally.failures[(trouble.cause ?? .program).rawValue, default: 0] += 1
        }
      } else {
        state.intake.giveBack(
          entry.location, nowSeconds: clock.monotonicSeconds(), now)
      }
    }
    handle.wake()
    return entry.location
  }

  /// Captures that a run was given and did not come to.
  func giveBack(_ locations: [CaptureLocation]) {
    state.withLock { state in
      for location in locations {
        state.intake.giveBack(
          location, nowSeconds: clock.monotonicSeconds(), clock.wallText())
        state.disk.end(location)
      }
      state.hasChanged = true
    }
  }

  /// `nil`: it was not worked on, or the work was interrupted. `queued`: the disk was too small, which is no attempt.
  private func phase(
    after report: CaptureReport, _ entry: StagingEntry, _ stamp: FolderSignature,
    _ target: CaptureTarget, run: String, work: WatchWork, isNoted: Bool
  ) -> StagingEntry.Phase? {
    switch report.outcome {
    case .interrupted, .skipped: return nil
    case .made, .upToDate, .notPossible: return .done(report)
    case .failed, .blocked: break
    }
    if report.ranOutOfDisk, !entry.location.isGone { return .queued }
    let key = work.key(stamp)
    let before = Failure(triageOf: target.layout).flatMap { $0.key == key ? $0 : nil }
    var trouble = Triage(settings: setup.settings).failure(
      after: report, attemptsBefore: before?.attempts, machineTries: entry.machineTries,
      isGone: entry.location.isGone,
      nowSeconds: clock.monotonicSeconds(), now: Date.now)
    trouble.hasResults = report.stages.contains { $0.outcome.isDone }
    (trouble.key, trouble.run, trouble.time) = (key, run, clock.wallText())
    // The notes cannot be written. The published results decide as soon as they can be read again.
    guard isNoted else { return .failed(trouble) }
    do {
      try NotesFile.write(JSONText.pretty(trouble), OutputNames.triage, of: target.layout)
      trouble.isNoted = true
    } catch {
      // A capture that could not even get a folder says that itself.
      if FileSystem.isFolder(target.layout.folder) {
        state.withLock { $0.unwritten.append("\(error)") }
      }
    }
    return .failed(trouble)
  }
}

extension CaptureReport {
  /// Whether nothing but a full disk kept it from being done.
  var ranOutOfDisk: Bool {
    let failed = self.stages.filter { $0.outcome == .failed }
    if failed.isEmpty { return why.detail?.code == .diskFull }
    return failed.allSatisfy { $0.why.detail?.code == .diskFull }
  }

  /// What all of its stages wrote, intermediates included; `nil`: some had nothing to do.
  fileprivate var bytesOfWholeRun: Int64? {
    guard hasSucceeded, self.stages.contains(where: { $0.outcome == .made }),
      !self.stages.contains(where: { $0.outcome == .upToDate })
    else { return nil }
    return self.stages.reduce(0) { $0 + ($1.outcome == .made ? $1.bytes ?? 0 : 0) }
  }
}

extension WatchRecord.Tally {
  mutating func add(_ report: CaptureReport) {
    let totals = RunTotals([report], unrecognized: 0, seconds: 0)
    frames += totals.frames
    // Of a stage that failed, what it could make was published.
    for stage in report.stages where stage.outcome == .made || stage.outcome == .failed {
      let (sum, overflow) = bytesWritten.addingReportingOverflow(max(0, stage.bytes ?? 0))
      bytesWritten = overflow ? .max : sum
    }
    cpuSeconds += totals.cpuSeconds
    let failures = report.stages.map(\.why) + [report.why]
    if failures.contains(where: { $0.detail?.code == .hung }) { workersStuck += 1 }
  }
}

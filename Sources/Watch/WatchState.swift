import Captures
import FoundationEssentials
import Engine
import Core
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
    var costs = CaptureCosts()
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
    /// Something has changed since the pages were last written.
    var hasChanged = true

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

  private let state: Mutex<State>
  private let triage: Triage
  private let clock: RunClock
  private let output: FilePath
  private let reserve: Int64?
  /// Whether captures that another run holds are given all the same: their workers wait.
  private let takesLocked: Bool
  private let wake: @Sendable () -> Void

  init(
    _ intake: IntakeState, _ work: WatchWork, settings: WatchSettings, output: FilePath,
    takesLocked: Bool, clock: RunClock, wake: @escaping @Sendable () -> Void
  ) {
    var first = State(intake: intake, work: work)
    first.disk.expected = work.needs
    state = Mutex(first)
    triage = Triage(settings: settings)
    self.output = output
    reserve = settings.reserveBytes
    self.takesLocked = takesLocked
    self.clock = clock
    self.wake = wake
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

  /// Captures for which the disk was too small, since this was last asked.
  func takeFullDisk() -> [String] {
    state.withLock { state in
      defer { state.fullDisk = [] }
      return state.fullDisk
    }
  }

  /// Why notes about failures could not be written, since this was last asked.
  func takeUnwritten() -> [String] {
    state.withLock { state in
      defer { state.unwritten = [] }
      return state.unwritten
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
    let free = FreeSpaceRule.free(of: output, reserve: reserve)
    let found = startable(most, free, besides: known)
    if found.isEmpty { return [] }
    // Marks that were set since the last scan count.
    let marks = MarkBook(ofOutput: output)
    for (entry, target) in found {
      if let mark = marks.mark(of: target.layout, at: entry.location), mark.isLeftAlone {
        state.withLock { $0.intake.take(mark, at: entry.location) }
        continue
      }
      guard var claimed = Ownership(root: output).claim([target]).first else { continue }
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
        state.intake.start(entry.location)
        state.costs.begin(entry.location, atSeconds: now)
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
  var hasWork: Bool { !startable(1, FreeSpaceRule.free(of: output, reserve: reserve)).isEmpty }

  /// Whether something waits that a run with these captures does not get again: another run is to begin for it.
  func hasWork(only known: Set<CaptureLocation>) -> Bool {
    let isWaiting = state.withLock { state in
      state.hold == nil && state.intake.queue.contains { known.contains($0.location) }
    }
    if isWaiting { wake() }
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
      // Taken up when whoever has it is done.
      if !takesLocked, FileLock.isHeld(at: target.layout.lock) {
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
      case .running(let stamp) = entry.phase, let target = entry.target
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
      state.costs.end(
        entry.location, family: report.hasSucceeded ? report.family : nil,
        bytes: stamp.bytes, written: report.bytesOfWholeRun, pipeline: work.diskKey,
        atSeconds: nowSeconds)
      state.hasChanged = true
      if report.hasSucceeded {
        state.disk.done(entry.location, family: report.family ?? "")
        state.disk.expected?.learn(target.layout)
      }
      if case .queued = phase {
        state.disk.ranOut(
          entry.location, family: entry.recognition?.family.rawValue ?? "", bytes: stamp.bytes,
          untilSeconds: nowSeconds + triage.settings.retryAfterSeconds)
        state.fullDisk.append(entry.name)
      }
      state.disk.end(entry.location)
      if let phase {
        state.intake.end(entry.location, phase, nowSeconds: clock.monotonicSeconds(), now)
        if case .done = phase {
          state.intake.noteOutput(entry.location, signature)
          state.lastDoneSeconds = Date.now.timeIntervalSince1970
        }
        switch phase {
        case .failed(let trouble), .quarantined(let trouble):
          state.tally.failures[(trouble.cause ?? .program).rawValue, default: 0] += 1
        default: break
        }
      } else {
        state.intake.giveBack(
          entry.location, nowSeconds: clock.monotonicSeconds(), now)
      }
    }
    wake()
    return entry.location
  }

  /// Captures that a run was given and did not come to.
  func giveBack(_ locations: [CaptureLocation]) {
    state.withLock { state in
      for location in locations {
        state.intake.giveBack(
          location, nowSeconds: clock.monotonicSeconds(), clock.wallText())
        state.costs.end(location, family: nil, bytes: 0, atSeconds: 0)
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
    case .made, .upToDate, .notPossible:
      return .done(
        shortfalls: report.shortfalls ?? [], missing: report.missing, altered: report.altered ?? [])
    case .failed, .blocked: break
    }
    if report.ranOutOfDisk, !entry.location.isGone { return .queued }
    let key = Triage.key(stamp, program: work.context.program, pipeline: work.pipelineKey)
    let before = Failure(triageOf: target.layout).flatMap { $0.key == key ? $0 : nil }
    var trouble = triage.failure(
      after: report, attemptsBefore: before?.attempts, machineTries: entry.machineTries,
      isGone: entry.location.isGone,
      nowSeconds: clock.monotonicSeconds(), now: Date.now)
    trouble.hasResults = report.stages.contains { $0.outcome.isDone }
    (trouble.key, trouble.run, trouble.time) = (key, run, clock.wallText())
    // The notes cannot be written. The published results decide as soon as they can be read again.
    guard isNoted else {
      return trouble.isQuarantined == true ? .quarantined(trouble) : .failed(trouble)
    }
    do {
      try NotesFile.write(JSONText.pretty(trouble), OutputNames.triage, of: target.layout)
      trouble.isNoted = true
    } catch {
      // A capture that could not even get a folder says that itself.
      if FileSystem.isFolder(target.layout.folder) {
        state.withLock { $0.unwritten.append("\(error)") }
      }
    }
    return trouble.isQuarantined == true ? .quarantined(trouble) : .failed(trouble)
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

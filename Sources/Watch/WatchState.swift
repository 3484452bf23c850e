import Captures
import FoundationEssentials
import Output
import Pipeline
import Runner
import Storage
import Synchronization
import SystemPackage

/// What the watcher and the runs that go on share: the intake, and whether anything may be started.
///
/// Runs ask it for captures and tell it how they ended, through a `WatchSupply` each, from their own threads.
final class WatchState: Sendable {
  /// Why nothing new is started.
  enum PauseReason: String, Sendable, CaseIterable {
    case window, disk, staging, output
  }

  struct State: Sendable {
    var intake: IntakeState
    var hold: PauseReason?
    /// What the next run is to begin with.
    var work: WatchWork
    var tally = WatchTally()
    var costs = CaptureCosts()
    /// Names of captures in the queue that another run holds.
    var locked: Set<String> = []
    /// Why notes about failures could not be written, since somebody last asked.
    var unwritten: [String] = []
    /// Something has changed since the pages were last written.
    var hasChanged = true
  }

  private let state: Mutex<State>
  private let triage: Triage
  private let clock: RunClock
  private let output: FilePath
  /// Whether captures that another run holds are given all the same: their workers wait.
  private let takesLocked: Bool
  private let wake: @Sendable () -> Void

  init(
    _ intake: IntakeState, _ work: WatchWork, settings: WatchSettings, output: FilePath,
    takesLocked: Bool, clock: RunClock, wake: @escaping @Sendable () -> Void
  ) {
    state = Mutex(State(intake: intake, work: work))
    triage = Triage(settings: settings)
    self.output = output
    self.takesLocked = takesLocked
    self.clock = clock
    self.wake = wake
  }

  func with<Result>(_ body: (inout sending State) throws -> sending Result) rethrows
    -> sending Result
  {
    try state.withLock(body)
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
  /// - Parameter note: told of each that it is given, before anybody else hears of it.
  func take(_ most: Int, note: (CaptureLocation) -> Void) -> [CaptureTarget] {
    var given: [CaptureTarget] = []
    let found = startable(most)
    if found.isEmpty { return [] }
    // What was decided since the last scan counts.
    let marks = MarkBook(ofOutput: output)
    for (entry, target) in found {
      if let mark = marks.mark(of: target.layout, at: entry.location), mark.isLeftAlone {
        state.withLock { $0.intake.take(mark, at: entry.location) }
        continue
      }
      guard let claimed = Ownership(root: output).claim([target]).first else { continue }
      let isStarted = state.withLock { state -> Bool in
        guard state.intake.entries[entry.location]?.stamp == entry.stamp,
          case .queued = state.intake.entries[entry.location]?.phase
        else { return false }
        state.intake.assign([entry.location: claimed])
        state.intake.start(entry.location)
        state.costs.begin(entry.location, atSeconds: clock.monotonicSeconds())
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
  var hasWork: Bool { !startable(1).isEmpty }

  private func startable(_ most: Int) -> [(StagingEntry, CaptureTarget)] {
    let queue = state.withLock { state -> [StagingEntry] in
      guard state.hold == nil else { return [] }
      return Array(state.intake.queue.prefix(most + 64))
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
    let report = outcome.report
    guard let entry = state.withLock({ $0.intake.entry(named: report.id) }),
      case .running(let stamp) = entry.phase, let target = entry.target
    else { return nil }
    let phase = phase(after: report, entry, stamp, target, run: run, work: work)
    let now = clock.wallText()
    let signature = OutputSignature(of: target.layout, holding: report)
    let nowSeconds = clock.monotonicSeconds()
    state.withLock { state in
      state.tally.add(report)
      state.costs.end(
        entry.location, family: report.outcome == .done ? report.family : nil,
        bytes: stamp.bytes, atSeconds: nowSeconds)
      state.hasChanged = true
      if let phase {
        state.intake.end(entry.location, phase, nowSeconds: clock.monotonicSeconds(), now)
        if case .done = phase {
          state.intake.noteOutput(entry.location, signature)
          state.tally.lastDoneSeconds = Date.now.timeIntervalSince1970
        }
        if case .failed(let trouble) = phase {
          state.tally.failures[trouble.cause, default: 0] += 1
        }
        if case .quarantined(let trouble) = phase {
          state.tally.failures[trouble.cause, default: 0] += 1
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
      }
      state.hasChanged = true
    }
  }

  /// `nil`: it was not worked on, or the work was interrupted.
  private func phase(
    after report: CaptureReport, _ entry: StagingEntry, _ stamp: FolderSignature,
    _ target: CaptureTarget, run: String, work: WatchWork
  ) -> StagingEntry.Phase? {
    switch report.outcome {
    case .interrupted, .skipped: return nil
    case .done:
      return .done(
        hasWarnings: !report.warningCount.isNone || !report.missing.isEmpty,
        isShort: report.isShort, missing: report.missing)
    case .failed, .blocked: break
    }
    let key = Triage.key(stamp, program: work.program, pipeline: work.pipelineKey)
    let before = TriageRecord(of: target.layout).flatMap { $0.key == key ? $0 : nil }
    var trouble = triage.trouble(
      after: report, before: before, machineTries: entry.machineTries,
      isGone: entry.location.isGone,
      nowSeconds: clock.monotonicSeconds(), now: Date.now)
    trouble.hasResults = report.stages.contains {
      $0.outcome == .ran || $0.outcome == .upToDate
    }
    let record = triage.record(trouble, key: key, run: run, time: clock.wallText())
    do {
      try NotesFile.write(JSONText.pretty(record), TriageRecord.fileName, of: target.layout)
      trouble.isNoted = true
    } catch {
      // A capture that could not even get a folder says that itself.
      if FileSystem.isFolder(target.layout.folder) {
        state.withLock { $0.unwritten.append("\(error)") }
      }
    }
    return trouble.isQuarantined ? .quarantined(trouble) : .failed(trouble)
  }
}

/// What was done since the first watcher of this output began.
struct WatchTally: Sendable {
  var failures: [FailureCause: Int] = [:]
  var frames = 0
  var bytesWritten: Int64 = 0
  var cpuSeconds = 0.0
  /// Workers that were ended because they did not get on.
  var workersStuck = 0
  /// Seconds since 1970.
  var lastDoneSeconds: Double?

  init() {}

  /// Goes on where an earlier watcher ended.
  init(_ record: WatchRecord.Tally?) {
    guard let record else { return }
    for (cause, count) in record.failures {
      if let cause = FailureCause(rawValue: cause) { failures[cause] = max(0, count) }
    }
    (frames, bytesWritten) = (max(0, record.frames), max(0, record.bytesWritten))
    (cpuSeconds, workersStuck) = (max(0, record.cpuSeconds), max(0, record.workersStuck))
  }

  var record: WatchRecord.Tally {
    var record = WatchRecord.Tally()
    for (cause, count) in failures { record.failures[cause.rawValue] = count }
    (record.frames, record.bytesWritten) = (frames, bytesWritten)
    (record.cpuSeconds, record.workersStuck) = (cpuSeconds, workersStuck)
    return record
  }

  mutating func add(_ report: CaptureReport) {
    let totals = RunTotals([report], unrecognized: 0, wallSeconds: 0)
    frames += totals.frames
    bytesWritten += totals.bytesWritten
    cpuSeconds += totals.cpuSeconds
    let messages = report.stages.compactMap(\.message) + [report.message].compactMap(\.self)
    if messages.contains(where: { $0.contains(Supervisor.stuckPhrase) }) { workersStuck += 1 }
  }
}

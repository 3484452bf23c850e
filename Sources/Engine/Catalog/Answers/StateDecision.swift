import Captures
import Core
import SystemPackage

extension RunEntry {
  /// What runs made of a capture, over all runs.
  struct History: Hashable {
    var latest: RunEntry.Attempt
    var run: String
    /// When the latest attempt ended.
    var time: String
    /// How many attempts in a row, the latest included, have failed.
    var failedInARow: Int
    /// When the first attempt ended.
    var first: String
    /// Pipeline of the latest run, as a path or a name.
    var pipeline: String?
  }
}

extension WatchRecord.Waiting {
  /// Whether it waits for the same after its watcher has ended: for a mark to be taken back, not done yet, for the part
  /// of the day in which the next watcher works, or, never begun, for space of a disk that was too small.
  fileprivate func outlastsWatcher(_ history: RunEntry.History?) -> Bool {
    switch waitsFor {
    case "mark": true
    case "window": history?.latest.hasSucceeded != true
    case "disk": history == nil
    default: false
    }
  }
}

/// How a capture stands, and why: the one place that decides it for every view.
extension CaptureRow {
  /// Finds out how a capture stands that has a folder in the output.
  ///
  /// - Parameters:
  ///   - isLocked: a run that lives holds the capture's lock.
  ///   - waiting: what the last look of a watcher says of this very capture.
  ///   - watcher: takes what lies in its folder alone.
  ///   - isRunOpen: the last run of this output may still be at work.
  mutating func settle(
    isLocked: Bool = false, waiting: WatchRecord.Waiting? = nil, watcher: NightReport.Watch? = nil,
    history: RunEntry.History? = nil, isRunOpen: Bool = false
  ) {
    lastRun = history?.time ?? lastPublished
    firstRun = history?.first ?? lastPublished
    (lastRunID, lastPipeline) = (history?.run, history?.pipeline)
    outcome = history.map { $0.latest.outcome ?? .interrupted }
    let watcher = watcher.flatMap { $0.looksAt(path) ? $0 : nil }
    isWatched = watcher != nil
    let mayBeTaken = isRunOpen || watcher?.alive == true
    let triage = currentTriage(history)
    attempts = triage?.attempts ?? history?.failedInARow ?? 0
    retryAt = triage?.retryAt
    if isLocked {
      state = .running
      since = history?.latest.finished == nil ? history?.latest.started : nil
    } else if let waiting, let watcher,
      mayBeTaken || waiting.state != .queued || waiting.outlastsWatcher(history),
      counts(waiting, watcher, history)
    {
      let missing = missing
      take(waiting)
      if waiting.missing.isEmpty, waiting.state != .incomplete { self.missing = missing }
    } else {
      state = settledState(triage, history, mayBeTaken: mayBeTaken)
      if state == .queued, ranOutOfDisk { waitsFor = "disk" }
      if state == .failed || state == .quarantined { explain(triage, history) }
    }
    if state != .running { lockedBy = nil }
    if !mayBeTaken { leave() }
  }

  /// A capture that waits, with neither a run nor a watcher at work to take it, is left: whatever was to take it ended before
  /// it was done.
  private mutating func leave() {
    guard state == .queued, waitsFor == nil else { return }
    isLeft = true
    outcome = outcome ?? .interrupted
  }

  /// A capture that has no output folder yet.
  init(
    _ waiting: WatchRecord.Waiting, watcher: NightReport.Watch? = nil,
    history: RunEntry.History? = nil
  ) {
    self.init(id: waiting.id, family: waiting.family, path: PathText.shown(waiting.path))
    (folder, stem, waitingTwin) = (waiting.path, waiting.stem, waiting.twinOf)
    deviceInfo.id = waiting.device
    (lastRun, firstRun) = (history?.time, history?.first)
    (lastRunID, lastPipeline) = (history?.run, history?.pipeline)
    outcome = history.map { $0.latest.outcome ?? .interrupted }
    isWatched = watcher != nil
    attempts = history?.failedInARow ?? 0
    take(waiting)
    // A worker ends with its watcher, so nothing runs without one.
    if state == .running, watcher?.alive != true { state = .queued }
    if let watcher, !watcher.alive {
      if state == .queued, !waiting.outlastsWatcher(history) { waitsFor = nil }
      leave()
    }
  }

  /// A capture that was never worked on, as a look at STAGING finds it.
  ///
  /// - Parameter mark: what a person decided about it.
  public init(waiting: WatchRecord.Waiting, mark: CaptureMark? = nil) {
    self.init(waiting)
    if waiting.since.isEmpty { since = nil }
    self.mark = mark
    judge()
  }

  /// A capture that a run tells of and that has no output folder. It lies in no folder of a watcher.
  init(_ history: RunEntry.History) {
    let latest = history.latest
    self.init(
      id: latest.capture, family: latest.family, state: latest.hasFailed ? .failed : .queued,
      path: latest.path)
    (warnings, shortfalls) = (latest.warnings, latest.shortfalls ?? [])
    missing = latest.missing
    attempts = history.failedInARow
    (lastRun, firstRun, lastRunID) = (history.time, history.first, history.run)
    isLeft = latest.outcome == .interrupted
    if state == .failed {
      since = history.time
      let deciding = latest.decidingFailure
      var failure = latest.why.message == nil ? deciding ?? Failure() : latest.why
      (failure.stage, failure.cause) = (deciding?.stage, latest.why.cause ?? deciding?.cause)
      self.failure = failure
    }
    judge()
  }

  /// What the watcher saw: of a failure that only it knows, because the capture went before it was done, or has no folder
  /// to note it in, also why.
  private mutating func take(_ waiting: WatchRecord.Waiting) {
    state = waiting.state
    since = waiting.since
    (waitsFor, neededBytes) = (waiting.waitsFor, waiting.neededBytes)
    upload = waiting.upload
    missing = waiting.missing
    if waiting.state == .stalledUpload { failure = Failure(message: waiting.failure?.message) }
    guard waiting.state == .failed || waiting.state == .quarantined else { return }
    failure = waiting.failure ?? Failure(message: nil)
    retryAt = failure?.retryAt
    attempts = failure?.attempts ?? attempts
    gone = gone || waiting.gone == true
  }

  /// What is noted of failures, unless a later run went well.
  private func currentTriage(_ history: RunEntry.History?) -> Failure? {
    if let history, let triage, history.run != triage.run, history.latest.hasSucceeded,
      history.time > triage.time ?? ""
    {
      return nil
    }
    return triage
  }

  /// The last look counts, also that of a watcher that has ended, until a run has worked on the capture
  /// since. That a worker has it is believed of a living watcher only.
  private func counts(
    _ waiting: WatchRecord.Waiting, _ watcher: NightReport.Watch, _ history: RunEntry.History?
  ) -> Bool {
    if waiting.state == .running { return watcher.alive }
    // The watcher leaves it alone because of a mark, and nothing is to be done.
    if waiting.waitsFor == "mark", isUpToDate { return false }
    // The foreign file that was in a result's place is gone.
    if waiting.failure?.detail?.code == .notOurs, triage == nil { return false }
    // It waits after its own attempt that met the full disk, which ended after the look.
    if watcher.alive, waiting.waitsFor == "disk", history?.latest.hasFailed == true,
      history?.latest.why.cause == .machine
    {
      return true
    }
    let lastWork = [history?.latest.finished, lastPublished].compactMap(\.self).max()
    return lastWork.map { $0 <= watcher.lastLook ?? "" } ?? true
  }

  private func settledState(
    _ triage: Failure?, _ history: RunEntry.History?, mayBeTaken: Bool
  ) -> CaptureState {
    // Nothing but space is wanting, and the watcher waits for it.
    if isWatched, ranOutOfDisk { return .queued }
    if let triage { return triage.isQuarantined == true ? .quarantined : .failed }
    let states = Set(stages.map(\.state))
    if states.contains(.failed) || states.contains(.obstructed) { return .failed }
    // With --strict warnings count as failures, until a run without it.
    if isUpToDate { return history?.latest.why.detail?.code == .strict ? .failed : .done }
    // A stage whose inputs failed counts as failed once a run has tried it.
    if states.contains(.blocked), history != nil || !timings.isEmpty { return .failed }
    if history?.latest.hasFailed == true || gone { return .failed }
    // A run that was interrupted is repeated. Without a watcher, what has changed or gone after a run that went well
    // waits for a person: it was done.
    let wasDone = history?.latest.hasSucceeded ?? !states.isDisjoint(with: [.done, .stale])
    return mayBeTaken || !wasDone ? .queued : .done
  }

  /// Whether nothing but a full disk kept stages from being done.
  private var ranOutOfDisk: Bool {
    let failed = Set(stages.filter { $0.state == .failed }.map(\.stage))
    let full = failures.filter { $0.detail?.code == .diskFull }.compactMap(\.stage)
    // A failure may outlast its stage's state: a step whose results another run did not need.
    return !failed.isEmpty && failed.isSubset(of: full)
  }

  private mutating func explain(_ triage: Failure?, _ history: RunEntry.History?) {
    if let triage {
      failure = triage
      since = triage.time
      return
    }
    attempts = max(1, attempts)
    // The failed stage whose cause decides comes first; stages that it blocked are never named.
    let attempt = history?.latest.hasFailed == true ? history?.latest : nil
    let decides = failures.filter { attempt?.why.cause != nil && $0.cause == attempt?.why.cause }
    let failed =
      stages.first { stage in
        stage.state == .failed && decides.contains { $0.stage == stage.stage }
      } ?? stages.first { $0.state == .failed || $0.state == .obstructed }
    let stuck = failed ?? stages.first { $0.state == .blocked }
    let note = failures.first { $0.stage == failed?.stage }
    let told = attempt?.failures.first { $0.stage == stuck?.stage } ?? attempt?.decidingFailure
    // The last run was not asked to make what its stages read, and nothing is wrong with the capture.
    let isOnlyBlocked = outcome == .blocked && failed == nil
    failure = Failure(
      stage: stuck?.stage ?? told?.stage,
      message: note?.message ?? stuck?.details ?? attempt?.why.message ?? told?.message
        ?? (gone ? "its folder is gone" : nil),
      cause: attempt?.why.cause ?? note?.cause ?? told?.cause
        ?? (isOnlyBlocked ? nil : stuck?.state == .blocked ? .input : gone ? .machine : .program),
      detail: stuck?.state == .obstructed
        ? FailureDetail(.notOurs, file: stuck.map { "\(id)/\($0.stage)" })
        : note?.detail ?? told?.detail ?? attempt?.why.detail)
    since = note?.time ?? history?.time
  }

  /// Finds out why it needs a person, once all else is known of it. Cost: for one that does, a look at its place.
  mutating func judge() {
    isOneFile = !missing.isEmpty && liesInOneFile
    reasons = NeedReason.all(
      state, failure: failure, missing: missing, altered: received?.altered ?? [],
      shortfalls: shortfalls, stale: isAskedAnew ? [] : staleStages, isLeft: isLeft,
      upload: upload, mark: mark, remedy: knownRemedy)
  }

  /// What is known of the capture for the words of remedies.
  private var knownRemedy: Remedy {
    var remedy = Remedy(state: state.rawValue)
    remedy.failure = failure
    remedy.family = family
    remedy.attempts = attempts
    remedy.missing = missing
    remedy.folder = path
    remedy.isOneFile = liesInOneFile
    remedy.isGone = gone
    remedy.retryAt = retryAt.map { NightClock.words($0, now: FileStamp.nowNanoseconds()) }
    remedy.waitsFor = waitsFor
    remedy.isWatched = isWatched
    remedy.warnings = warnings
    if outcome == .blocked, failure?.cause == nil {
      remedy.blocked = stages.filter { $0.state == .blocked }.map(\.stage)
    }
    return remedy
  }

  /// What is to be done so that a queued one goes on; `nil`: nothing.
  var waitingRemedy: String? { state == .queued ? knownRemedy.sentence : nil }

  /// Whether its place is a file. Cost: a look at it where a sentence depends on it.
  private var liesInOneFile: Bool {
    guard stem == nil, let folder else { return false }
    let path = FilePath(text: folder)
    return FileSystem.exists(path) && !FileSystem.isFolder(path)
  }
}

extension RunEntry.Attempt {
  /// The stage that failed, of several the one with the cause that decides; one that was blocked only where none
  /// failed.
  var decidingFailure: Failure? {
    failures.first { $0.cause != nil && $0.cause == why.cause } ?? failures.first {
      $0.cause != nil
    }
      ?? failures.first
  }

  /// The stages that failed before those that were blocked, otherwise in the order of the pipeline.
  var orderedFailures: [Failure] {
    failures.filter { $0.cause != nil } + failures.filter { $0.cause == nil }
  }
}

extension Custody {
  /// Whether a capture may be deleted on its device, and why not.
  init(_ row: CaptureRow) {
    let received = row.received
    let manifest = received?.manifest
    let doubts = manifest.map { Self.doubts($0, received?.files) } ?? []
    self.init(
      receivedFiles: received?.files, receivedBytes: received?.bytes,
      expectedFiles: manifest.map { max($0.files, 0) }
        ?? received.map { $0.files + row.missing.count },
      verifiedBy: manifest != nil && doubts.isEmpty ? .manifest : nil,
      lacks: Self.lacks(row, doubts))
  }

  private static func lacks(_ row: CaptureRow, _ doubts: [String]) -> [String] {
    var lacks: [String] = []
    let state = row.state
    switch state {
    case .done: break
    case .failed, .quarantined:
      lacks.append(state.words + (row.failure?.stage.map { ": stage \($0)" } ?? ""))
    default: lacks.append(state.words)
    }
    if !row.missing.isEmpty { lacks.append(OutcomeWords.lacks(row.missing)) }
    lacks += doubts
    if state == .done {
      guard row.page != nil else { return lacks + ["nothing of it was processed"] }
      if row.family == nil { lacks.append("of no known family") }
      lacks += row.shortfalls.map(\.lossWords)
      for stage in row.shownStages where stage.state.isLack {
        lacks.append("stage \(stage.stage) is \(stage.state.rawValue)")
      }
      if row.received == nil { lacks.append("which files were received is not recorded") }
      if row.gone || row.inputGone {
        lacks.append("its files are no longer in the place that they were processed from")
      }
    }
    let codes = Set(row.warnings.withoutNotes.map(\.code)).filter {
      $0.cure == .copy && $0 != .shortfall
    }
    if !codes.isEmpty {
      let names = WarningCode.allCases.filter(codes.contains).map(\.rawValue)
      lacks.append("warnings ask for another copy: \(names.joined(separator: ", "))")
    }
    if lacks.isEmpty, row.needsPerson { lacks.append("it needs you") }
    return lacks.isEmpty && row.received?.manifest == nil ? [notCompared] : lacks
  }

  /// Why a manifest does not prove that all files are as they are on the device.
  private static func doubts(_ manifest: UploadCounts, _ files: Int?) -> [String] {
    var doubts: [String] = []
    let open = manifest.files - manifest.verified
    if open > 0 {
      doubts.append("\(open) of \(manifest.files) files not verified by the upload server")
    } else if !manifest.isComplete || manifest.files == 0 {
      doubts.append("the upload server has not got everything")
    }
    let changed = manifest.verified - manifest.unchanged
    if changed > 0 {
      doubts.append(
        "\(changed) of \(manifest.files) files have changed since the upload server compared them, "
          + "or have other times")
    }
    if let files, files > manifest.files {
      doubts.append(
        "\(files - manifest.files) of \(files) files did not come through the upload server")
    }
    return doubts
  }
}

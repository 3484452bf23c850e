import Captures

/// How a capture stands, and why: the one place that decides it for status, report, metrics and pages.
public struct CaptureCondition: Hashable, Sendable {
  public var state: CaptureState
  /// `nil` where it has not failed.
  public var failure: Failure?
  /// Failed attempts since it was last done.
  public var attempts = 0
  /// When it is tried again at the earliest (UTC, ISO 8601).
  var retryAt: String?
  /// Whether the capture's place is gone.
  var gone = false
  public var missing: [String] = []
  /// Since when it is in this state, where that is known.
  public var since: String?
  /// What a queued capture waits for.
  var waitsFor: String?
  /// Bytes of the disk that a capture is expected to write, where it waits for that.
  var neededBytes: Int64?
  /// Progress of an upload that has stalled.
  public var upload: UploadProgress?

  init(_ state: CaptureState) { self.state = state }

  /// What runs made of a capture, over all runs.
  struct History: Hashable, Sendable {
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

  /// What the watcher says.
  struct Watcher: Sendable {
    var isAlive: Bool
    var lastLook: String
    /// STAGING cannot be looked at: what is not there may be there.
    var isBlind: Bool
  }

  /// - Parameters:
  ///   - isLocked: a run that lives holds the capture's lock.
  ///   - waiting: what the last look of a watcher says of this very capture.
  init(
    _ entry: CaptureEntry, isLocked: Bool, waiting: WatchRecord.Waiting?, watcher: Watcher?,
    history: History?
  ) {
    self.init(.queued)
    missing = entry.missing
    gone = (entry.gone || entry.triage?.isGone == true && entry.gone) && watcher?.isBlind != true
    let triage = Self.current(entry.triage, history)
    attempts = triage?.attempts ?? history?.failedInARow ?? 0
    retryAt = triage?.retryAt
    if isLocked {
      state = .running
      since = history?.latest.finished == nil ? history?.latest.started : nil
      return
    }
    if let waiting, let watcher, Self.counts(waiting, watcher, entry, history) {
      state = waiting.state
      since = waiting.since
      (waitsFor, neededBytes) = (waiting.waitsFor, waiting.neededBytes)
      upload = waiting.upload
      if !waiting.missing.isEmpty || waiting.state == .incomplete { missing = waiting.missing }
      take(waiting)
      return
    }
    state = Self.settledState(entry, triage, history, isGone: gone)
    if state == .failed || state == .quarantined { explain(entry, triage, history) }
  }

  /// The state of a capture that has no output folder yet.
  init(_ waiting: WatchRecord.Waiting, watcher: Watcher?, history: History?) {
    self.init(waiting.state)
    // Its worker went with the watcher.
    if state == .running, watcher?.isAlive != true { state = .queued }
    since = waiting.since
    (waitsFor, neededBytes) = (waiting.waitsFor, waiting.neededBytes)
    upload = waiting.upload
    missing = waiting.missing
    attempts = history?.failedInARow ?? 0
    take(waiting)
  }

  /// A failure that only the watcher knows: the capture went before it was done, or has no folder to note
  /// it in.
  private mutating func take(_ waiting: WatchRecord.Waiting) {
    if waiting.state == .stalledUpload { failure = Failure(message: waiting.failure?.message) }
    guard waiting.state == .failed || waiting.state == .quarantined else { return }
    failure = waiting.failure ?? Failure(message: nil)
    retryAt = waiting.retryAt
    attempts = waiting.attempts ?? attempts
    gone = gone || waiting.gone == true
  }

  /// The state of a capture that a run tells of and that has no output folder.
  init(_ history: History) {
    self.init(history.latest.hasFailed ? .failed : .queued)
    missing = history.latest.missing
    attempts = history.failedInARow
    if state == .failed {
      since = history.time
      let deciding = history.latest.decidingFailure
      failure = Failure(
        stage: deciding?.stage, message: history.latest.message ?? deciding?.message,
        cause: history.latest.cause ?? deciding?.cause,
        detail: history.latest.message == nil ? deciding?.detail : history.latest.detail)
    }
  }

  /// What is noted of failures, unless a later run went well.
  private static func current(_ triage: TriageRecord?, _ history: History?) -> TriageRecord? {
    guard let triage else { return nil }
    if let history, history.run != triage.run, history.latest.hasSucceeded,
      history.time > triage.time
    {
      return nil
    }
    return triage
  }

  /// The last look counts, also that of a watcher that has ended, until a run has worked on the capture
  /// since. That a worker has it is believed of a living watcher only.
  private static func counts(
    _ waiting: WatchRecord.Waiting, _ watcher: Watcher, _ entry: CaptureEntry, _ history: History?
  ) -> Bool {
    if waiting.state == .running { return watcher.isAlive }
    // The watcher leaves it alone because of a mark, and nothing is to be done.
    if waiting.waitsFor == "mark", entry.isUpToDate { return false }
    // It waits after its own attempt that met the full disk, which ended after the look.
    if waiting.state == .queued, history?.latest.ranOutOfDisk == true { return true }
    let lastWork = [history?.latest.finished, entry.lastPublished].compactMap(\.self).max()
    return lastWork.map { $0 <= watcher.lastLook } ?? true
  }

  private static func settledState(
    _ entry: CaptureEntry, _ triage: TriageRecord?, _ history: History?, isGone: Bool
  ) -> CaptureState {
    if let triage { return triage.isQuarantined ? .quarantined : .failed }
    let states = Set(entry.stages.map(\.state))
    if states.contains(.failed) || states.contains(.obstructed) { return .failed }
    if entry.isUpToDate { return .done }
    // What cannot be built, once it was tried.
    if states.contains(.blocked), history != nil || !entry.timings.isEmpty { return .failed }
    if let history, history.latest.hasFailed { return .failed }
    return isGone ? .failed : .queued
  }

  private mutating func explain(
    _ entry: CaptureEntry, _ triage: TriageRecord?, _ history: History?
  ) {
    if let triage {
      failure = triage.failure
      since = triage.time
      return
    }
    attempts = max(1, attempts)
    // The failed stage whose cause decides comes first; stages that it blocked are never named.
    let deciding = history?.latest.hasFailed == true ? history?.latest.cause : nil
    let failed =
      entry.stages.first { stage in
        stage.state == .failed && deciding != nil
          && entry.failures.contains {
            $0.failure.stage == stage.stage && $0.failure.cause == deciding
          }
      } ?? entry.stages.first { $0.state == .failed || $0.state == .obstructed }
    let stuck = failed ?? entry.stages.first { $0.state == .blocked }
    let note = entry.failures.first { $0.failure.stage == failed?.stage }
    let attempt = history?.latest.hasFailed == true ? history?.latest : nil
    let told = attempt?.failures.first { $0.stage == stuck?.stage } ?? attempt?.decidingFailure
    failure = Failure(
      stage: stuck?.stage ?? told?.stage,
      message: note?.failure.message ?? stuck?.details ?? attempt?.message ?? told?.message
        ?? (gone ? "its folder is gone" : nil),
      cause: attempt?.cause ?? note?.failure.cause ?? told?.cause
        ?? (stuck?.state == .blocked ? .input : gone ? .machine : .program),
      detail: stuck?.state == .obstructed
        ? FailureDetail(.notOurs, file: stuck.flatMap { "\(entry.id)/\($0.stage)" })
        : note?.failure.detail ?? told?.detail ?? attempt?.detail)
    since = note?.time ?? history?.time
  }
}

extension RunEntry.Attempt {
  /// The stage that failed, of several the one with the cause that decides; one that was blocked only where none
  /// failed.
  var decidingFailure: Failure? {
    failures.first { $0.cause != nil && $0.cause == cause } ?? failures.first { $0.cause != nil }
      ?? failures.first
  }

  /// Whether nothing but a full disk kept it from being done, which is no failed attempt to a watcher.
  var ranOutOfDisk: Bool {
    // A watcher notes it as interrupted.
    guard hasFailed || outcome == .interrupted, cause == .machine else { return false }
    let failed = failures.filter { $0.cause != nil }
    return failed.isEmpty
      ? detail?.code == .diskFull : failed.allSatisfy { $0.detail?.code == .diskFull }
  }

  /// The stages that failed before those that were blocked, otherwise in the order of the pipeline.
  var orderedFailures: [Failure] {
    failures.filter { $0.cause != nil } + failures.filter { $0.cause == nil }
  }
}

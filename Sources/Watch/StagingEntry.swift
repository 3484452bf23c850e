import Captures
import Engine
import Core

extension Failure {
  /// The failure of a place that could not be looked at.
  static func unseen(_ error: FileError) -> Failure {
    var failure = FailureClassifier.failure(error, .input)
    failure.isUnseen = true
    return failure
  }
}

/// The watcher's state of one place in STAGING.
struct StagingEntry {
  enum Phase {
    /// Something changed, or it was seen for the first time, less than the settle time ago.
    case moving
    /// At rest; not looked into since.
    case judging
    /// The upload is not over, and no byte has come for the time of `--upload-timeout`.
    case stalled
    /// `device`: the id of the device that recorded it, if it was looked for.
    case incomplete(missing: [String], device: String? = nil)
    case queued
    /// `stamp`: of its files when its run began; `sinceSeconds`: when that was, on the monotonic clock.
    case running(stamp: FolderSignature, sinceSeconds: Double)
    /// `shortfalls`: streams that have lost more than the pipeline accepts; `missing`: files that it was processed
    /// without; `altered`: files that are others than an upload server compared.
    case done(shortfalls: [Shortfall] = [], missing: [String] = [], altered: [String] = [])
    /// Given up where the failure says so.
    case failed(Failure)
    /// At rest, and no capture.
    case unrecognized

    static func done(_ report: CaptureReport) -> Phase {
      .done(
        shortfalls: report.shortfalls ?? [], missing: report.missing, altered: report.altered ?? [])
    }
  }

  var location: CaptureLocation
  /// `nil`: in no family's form, or not yet.
  var recognition: Recognition?
  /// What an unrecognized folder holds.
  var holds: [String] = []
  var stamp: FolderSignature
  var mark = UploadMark()
  /// What an upload server has on its way of it.
  var incoming: IncomingUpload?
  var folderID: FileID?
  /// When names, sizes and times of its files last changed, on the monotonic clock; negative where another boot saw it.
  var sinceSeconds: Double
  /// From when on the settle time counts: not before this boot.
  var restsFromSeconds: Double
  /// `sinceSeconds` as text (UTC), for people.
  var since: String
  /// The number of the capture in the order of arrival.
  var order: Int
  var phase: Phase = .moving
  /// Seen for the first time with this stamp: what earlier runs know of it has not been asked.
  var isFresh = true
  /// How it stands has to be found out again; until then it stands as it did.
  var isDoubted = false
  /// Done by names, sizes and times of modification; the content of its files is still to be compared.
  var isUnverified = false
  /// The capture as seen at another place, where a run still has it at this one.
  var movedTo: StagingSnapshot.Seen?
  /// Identity at the last of such places, or as an earlier watcher noted it; `nil`: its own place tells it.
  var lastSeen: CaptureIdentity?
  /// Whether the capture's files told so when it was first seen there.
  var isMovedForSure = false
  /// Whether the capture's place was not there at the last look.
  var isMissing = false
  /// Since when it is at no known place and may turn up at another one, on the monotonic clock and as text (UTC).
  var gone: (sinceSeconds: Double, since: String)?
  /// What runs now runs by rules that hold no longer.
  var isOutdated = false
  var target: CaptureTarget?
  /// The name of its results as the last watcher knew it; counts until `target` is known.
  var earlierResults: String?
  /// Signature of the notes of its output when it was found to be done.
  var outputSignature: OutputSignature?
  /// Tries in a row that trouble of the machine ended.
  var machineTries = 0
  /// What a person decided about it, also where that counts no more.
  var decision: CaptureMark?

  /// The name of the results that it has; `nil`: it has none, or it is not known.
  var results: String? {
    guard let target else { return earlierResults }
    return target.isClaimed ? target.layout.name : nil
  }

  /// The word of the contract; `nil` for a folder that is no capture.
  var state: CaptureState? {
    switch phase {
    case .moving, .judging: .arriving
    case .stalled: .stalledUpload
    case .incomplete: .incomplete
    case .queued: .queued
    case .running: .running
    case .done: .done
    case .failed(let trouble): trouble.isQuarantined == true ? .quarantined : .failed
    case .unrecognized: nil
    }
  }

  /// Why it needs a person; empty: it needs no person.
  var reasons: [NeedReason] {
    guard let state else { return [] }
    return switch phase {
    case .failed(let trouble): NeedReason.all(state, failure: trouble, mark: decision)
    case .done(let shortfalls, let missing, let altered):
      NeedReason.all(
        state, missing: missing, altered: altered, shortfalls: shortfalls, mark: decision)
    case .incomplete(let missing, _): NeedReason.all(state, missing: missing, mark: decision)
    case .stalled: NeedReason.all(state, upload: upload, mark: decision)
    case .moving, .judging, .queued, .running, .unrecognized: []
    }
  }

  /// Whether an upload of it is not over.
  var isUploading: Bool { stamp.isTransferring || incoming != nil }

  /// How far its upload has come.
  var upload: UploadProgress {
    UploadProgress(
      bytes: stamp.bytes &+ (incoming?.bytes ?? 0),
      temporaryFile: stamp.temporaryFile ?? incoming?.temporaryFile)
  }

  /// Id of the capture in the output, or what it will be; the name of the folder where nothing is known.
  var name: String {
    target?.layout.name ?? recognition?.id ?? location.path.shownName
  }

  var isRunning: Bool { if case .running = phase { true } else { false } }

  /// Whether it could not be looked at.
  var isUnseen: Bool { if case .failed(let trouble) = phase { trouble.isUnseen } else { false } }

  /// Whether something of it is published or noted, once its place is gone.
  var leavesRecord: Bool {
    switch phase {
    case .done: true
    case .failed(let trouble):
      trouble.isQuarantined == true || trouble.isNoted && trouble.hasResults
    case .moving, .judging, .stalled, .incomplete, .queued, .running, .unrecognized: false
    }
  }

  /// Whether it has been at rest long enough to be opened.
  var mayOpen: Bool { if case .moving = phase { false } else { true } }

  /// Whether its family's rule of completeness is asked: not of a capture that was processed as it is, or was to be.
  func asksForFiles(nowSeconds: Double, _ settings: WatchSettings) -> Bool {
    switch phase {
    case .done, .failed, .queued: false
    case .moving, .judging, .stalled, .incomplete, .running, .unrecognized:
      !mark.isComplete && nowSeconds - sinceSeconds < settings.patienceSeconds
    }
  }

  /// Whether nothing has been found out of the capture since it changed.
  var isAtRestOrMoving: Bool {
    switch phase {
    case .moving, .judging: true
    default: false
    }
  }

  // MARK: Changes

  /// Takes in its files as a look found them.
  mutating func note(
    _ stamp: FolderSignature, _ incoming: IncomingUpload?, nowSeconds: Double, nowText: String
  ) {
    let isNewContent =
      stamp.content != self.stamp.content || stamp.isTransferring != self.stamp.isTransferring
      || incoming != self.incoming
    let isNewStamp = stamp != self.stamp
    self.stamp = stamp
    self.incoming = incoming
    if isNewContent {
      sinceSeconds = nowSeconds
      restsFromSeconds = nowSeconds
      since = nowText
      isFresh = true
      isDoubted = false
      isUnverified = false
      machineTries = 0
      if !isRunning { phase = .moving }
    } else if isNewStamp {
      // Owner, mode, inode: of what is at rest only the questions are asked again.
      switch phase {
      case .moving where !isUploading:
        restsFromSeconds = nowSeconds
        isFresh = true
      case .done, .failed: isDoubted = true
      default: break
      }
    }
    if isUploading {
      // A transfer that was broken off leaves its file: that is no rest.
      if case .stalled = phase { return }
      if !isRunning { phase = .moving }
    } else if case .stalled = phase {
      phase = .moving
    }
  }

  /// What time alone changes.
  mutating func advance(nowSeconds: Double, _ settings: WatchSettings) {
    if isMissing { return }
    if decision?.isLeftAlone == true, !isAtRestOrMoving { return }
    let rest = nowSeconds - sinceSeconds
    switch phase {
    case .moving where isUploading:
      if rest >= settings.uploadTimeoutSeconds { phase = .stalled }
    case .moving:
      let isAtRest = nowSeconds - restsFromSeconds >= settings.settleSeconds
      guard mark.isSettled || isAtRest else { return }
      phase = recognition == nil ? .unrecognized : .judging
    case .incomplete:
      if mark.isComplete || rest >= settings.patienceSeconds { phase = .queued }
    case .failed(let trouble):
      if let at = trouble.retryAtSeconds, nowSeconds >= at { phase = .queued }
    default: return
    }
  }

  /// Takes in what was found out of it: the phase and, where it is done, what was found of its results.
  mutating func take(_ answer: StagingEntry) {
    isFresh = false
    if isAtRestOrMoving || isDoubted {
      phase = answer.phase
      outputSignature = answer.outputSignature
      isUnverified = answer.isUnverified
    }
    isDoubted = false
  }

  /// Lets it be judged anew: the pipeline or the program is another one.
  mutating func judgeAgain() {
    switch phase {
    case .done, .failed, .queued, .incomplete: isDoubted = true
    case .running: isOutdated = true
    case .moving, .judging, .stalled, .unrecognized: break
    }
  }

  /// Forgets that a worker found the place gone, or that the capture could not be looked at: it is there again.
  mutating func forgetThatItWasGone() {
    guard case .failed(let trouble) = phase, trouble.isGone == true || trouble.isUnseen else {
      return
    }
    phase = .moving
    isFresh = true
  }

  /// The entry as it stands at another place than before.
  func moved(to location: CaptureLocation, _ likeness: CaptureIdentity.Likeness) -> StagingEntry {
    var entry = self
    entry.location = location
    entry.target = nil
    // Noted until they have followed it, whatever ends this watcher before.
    entry.earlierResults = likeness == .certain ? results : nil
    entry.outputSignature = nil
    entry.movedTo = nil
    entry.lastSeen = nil
    entry.isMovedForSure = false
    entry.gone = nil
    // What earlier runs know of it is told by its results, once they are moved.
    switch phase {
    case .done, .failed: entry.isDoubted = true
    case .running: entry.phase = .queued
    default: break
    }
    entry.forgetThatItWasGone()
    return entry
  }
}

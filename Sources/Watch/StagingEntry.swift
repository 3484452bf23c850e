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
    case incomplete(missing: [String])
    case queued
    case running(stamp: FolderSignature)
    /// `shortfalls`: streams that have lost more than the pipeline accepts; `missing`: files that it was processed
    /// without; `altered`: files that are others than an upload server compared.
    case done(shortfalls: [Shortfall] = [], missing: [String] = [], altered: [String] = [])
    case failed(Failure)
    case quarantined(Failure)
    /// At rest, and no capture.
    case unrecognized
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
  /// Identity at the last of such places; `nil`: the capture was at its own one.
  var lastSeen: CaptureIdentity?
  /// Whether the capture's files told so when it was first seen there.
  var isMovedForSure = false
  /// Whether the capture's place was not there at the last look.
  var isMissing = false
  /// The id of the device, if it was looked for.
  var device: String?
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
    case .failed: .failed
    case .quarantined: .quarantined
    case .unrecognized: nil
    }
  }

  /// Why it needs a person; empty: it needs no person.
  var reasons: [NeedReason] {
    guard let state else { return [] }
    return switch phase {
    case .failed(let trouble), .quarantined(let trouble):
      NeedReason.all(state, failure: trouble, mark: decision)
    case .done(let shortfalls, let missing, let altered):
      NeedReason.all(
        state, missing: missing, altered: altered, shortfalls: shortfalls, mark: decision)
    case .incomplete(let missing): NeedReason.all(state, missing: missing, mark: decision)
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

  /// How it counts once its place is gone: by what is published or noted of it; `nil`: nothing is.
  var departedState: CaptureState? {
    switch phase {
    case .done, .quarantined: state
    case .failed(let trouble): trouble.isNoted && trouble.hasResults ? state : nil
    case .moving, .judging, .stalled, .incomplete, .queued, .running, .unrecognized: nil
    }
  }

  /// Whether the capture was processed as it is, or was to be: it is not waited for again.
  var wasProcessed: Bool {
    switch phase {
    case .done, .failed, .quarantined, .queued: true
    case .moving, .judging, .stalled, .incomplete, .running, .unrecognized: false
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
      case .done, .failed, .quarantined: isDoubted = true
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

  /// Takes in what was found out.
  mutating func take(_ answer: IntakeAnswer) {
    isFresh = false
    if isAtRestOrMoving || isDoubted {
      switch answer {
      case .done(let shortfalls, let missing, let altered, let isUnverified, let signature):
        phase = .done(shortfalls: shortfalls, missing: missing, altered: altered)
        outputSignature = signature
        self.isUnverified = isUnverified
      case .failed(let trouble): phase = .failed(trouble)
      case .quarantined(let trouble): phase = .quarantined(trouble)
      case .incomplete(let missing, let device):
        phase = .incomplete(missing: missing)
        self.device = device
      case .ready: phase = .queued
      case .unknown: break
      }
    }
    isDoubted = false
  }

  /// Lets it be judged anew: the pipeline or the program is another one.
  mutating func judgeAgain() {
    switch phase {
    case .done, .failed, .quarantined, .queued, .incomplete: isDoubted = true
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
    // What earlier runs know of it is told by its results, once they are moved.
    switch phase {
    case .done, .failed, .quarantined: entry.isDoubted = true
    case .running: entry.phase = .queued
    default: break
    }
    entry.forgetThatItWasGone()
    return entry
  }
}

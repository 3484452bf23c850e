import Captures
import Output
import Pipeline
import Runner
import Storage

/// Why a capture failed, and when it is tried again.
struct AttemptFailure: Sendable, Hashable {
  var cause: FailureCause
  var message: String
  var stage: String?
  /// Failed attempts that count.
  var attempts: Int
  /// Tries in a row that trouble of the machine ended.
  var machineTries = 0
  /// On the monotonic clock; `nil`: it is not.
  var retryAtSeconds: Double?
  /// The same for people.
  var retryAt: String?
  var isQuarantined = false
  var isGone = false
  /// Something of it is published.
  var hasResults = false
  /// It stands in the capture's folder in the output; else only the watcher knows it.
  var isNoted = false
}

/// One place in STAGING, as the watcher knows it.
struct StagingEntry: Sendable {
  enum Phase: Sendable {
    /// Something changed, or it was seen for the first time, less than the settle time ago.
    case moving
    /// At rest; not looked into since.
    case judging
    /// Nothing has come for the time of `--upload-timeout`, and the upload is not over.
    case stalled
    case incomplete(missing: [String])
    case queued
    case running(stamp: FolderSignature)
    /// `isShort`: a stream has lost more than the pipeline accepts; `missing`: files that it was processed without.
    case done(hasWarnings: Bool, isShort: Bool = false, missing: [String] = [])
    case failed(AttemptFailure)
    case quarantined(AttemptFailure)
    /// At rest, and no capture.
    case stranger
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
  /// The same for people (UTC).
  var since: String
  /// In the order of arrival.
  var order: Int
  var phase: Phase = .moving
  /// Seen for the first time with this stamp: what earlier runs know of it has not been asked.
  var isFresh = true
  /// How it stands has to be found out again; until then it stands as it did.
  var isDoubted = false
  /// Done by names, sizes and times of modification; the content of its files is still to be compared.
  var isUnverified = false
  /// The same capture at another place, where a run still has it at this one.
  var movedTo: StagingSnapshot.Seen?
  /// What it was known by at the last of such places; `nil`: it was at its own one.
  var lastSeen: CaptureIdentity?
  /// Its files told so when it was first seen there.
  var isMovedForSure = false
  /// Its place was not there at the last look.
  var isMissing = false
  /// Id of the device, where it was looked for.
  var device: String?
  /// What runs now runs by rules that hold no longer.
  var isOutdated = false
  var target: CaptureTarget?
  /// The name of its results as the last watcher knew it; counts until `target` is known.
  var earlierResults: String?
  /// Of the notes of its output when it was found to be done.
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
    case .done(let hasWarnings, _, _): hasWarnings ? .doneWithWarnings : .done
    case .failed: .failed
    case .quarantined: .quarantined
    case .stranger: nil
    }
  }

  /// Whether it is done and a person has to look all the same.
  var isShort: Bool { if case .done(_, let isShort, _) = phase { isShort } else { false } }

  /// Files that it was processed without.
  var missing: [String] { if case .done(_, _, let missing) = phase { missing } else { [] } }

  /// Whether it needs a person.
  var needsPerson: Bool {
    state?.needsPerson(
      isShort: isShort, missing: missing, isAcknowledged: decision?.isAcknowledged == true) ?? false
  }

  /// Whether it would need a person and a mark says that it does not.
  var isAcknowledged: Bool {
    decision?.isAcknowledged == true
      && state?.needsPerson(isShort: isShort, missing: missing, isAcknowledged: false) == true
  }

  /// Whether an upload of it is not over.
  var isUploading: Bool { stamp.isTransferring || incoming != nil }

  /// How far its upload has come.
  var upload: UploadProgress {
    UploadProgress(
      bytes: stamp.bytes &+ (incoming?.bytes ?? 0),
      temporaryFile: stamp.temporaryFile ?? incoming?.temporaryFile)
  }

  /// Its id in the output, or what it will be; of something unknown the name of its folder.
  var name: String {
    target?.layout.name ?? recognition?.id ?? location.path.shownName
  }
}

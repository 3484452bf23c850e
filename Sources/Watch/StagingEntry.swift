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
    case incomplete(missing: [String])
    case queued
    case running(stamp: FolderSignature)
    /// `isShort`: a stream has lost more than the pipeline accepts.
    case done(hasWarnings: Bool, isShort: Bool = false)
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
  var isOnItsWay = false
  var folderID: FileID?
  /// When this stamp was first seen, on the monotonic clock.
  var sinceSeconds: Double
  /// The same for people (UTC).
  var since: String
  /// In the order of arrival.
  var order: Int
  var phase: Phase = .moving
  /// Seen for the first time with this stamp: what earlier runs know of it has not been asked.
  var isFresh = true
  /// Its place was not there at the last look.
  var isMissing = false
  /// Id of the device, where it was looked for.
  var device: String?
  /// What runs now runs by rules that hold no longer.
  var isOutdated = false
  var target: CaptureTarget?
  /// Of the notes of its output when it was found to be done.
  var outputSignature: OutputSignature?
  /// Tries in a row that trouble of the machine ended.
  var machineTries = 0
  /// What a person decided about it, also where that counts no more.
  var decision: CaptureMark?

  /// The word of the contract; `nil` for a folder that is no capture.
  var state: CaptureState? {
    switch phase {
    case .moving, .judging: .arriving
    case .incomplete: .incomplete
    case .queued: .queued
    case .running: .running
    case .done(let hasWarnings, _): hasWarnings ? .doneWithWarnings : .done
    case .failed: .failed
    case .quarantined: .quarantined
    case .stranger: nil
    }
  }

  /// Whether it is done and somebody has to look all the same.
  var isShort: Bool { if case .done(_, let isShort) = phase { isShort } else { false } }

  /// Its id in the output, or what it will be; of something unknown the name of its folder.
  var name: String {
    target?.layout.name ?? recognition?.id ?? location.folder.shownName
  }
}

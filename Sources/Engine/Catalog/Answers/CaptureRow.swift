import Captures
import Core

/// One capture in an answer: what is known of it and how it stands.
public struct CaptureRow: Sendable, Hashable {
  public var id: String
  public var condition: CaptureCondition
  /// `nil`: it has no output folder yet.
  public var entry: CaptureEntry?
  /// When it was last worked on (UTC, ISO 8601).
  public var lastRun: String?
  /// Id of that run.
  var lastRunID: String?
  /// When it was first worked on.
  var firstRun: String?
  var knownFamily: String?
  var knownPath: String?
  /// Place of the capture as `PathText` carries it.
  var knownFolder: String?
  var knownStem: String?
  /// Device of a capture that is not processed yet.
  var knownDeviceID: String?
  /// What people know that device by, from other captures.
  var knownDeviceName: String?
  /// The pipeline as the last run was given it: a name or a path.
  var pipeline: String?
  /// What a person decided about it, also where that counts no more.
  public var mark: CaptureMark?
  /// A watcher looks after this output, or has.
  var isWatched = false
  /// Place of the capture whose name this one got with `~2`, if it is known.
  var pathOfNamesake: String?
  /// Id of the capture that had a waiting capture's id first.
  var knownTwin: String?
  /// Warnings of the last attempt, where nothing else tells.
  var knownWarnings: [CaptureWarning] = []
  var knownShortfalls: [Shortfall] = []

  public var state: CaptureState { condition.state }
  public var family: String? { entry?.family ?? knownFamily }
  public var path: String? { entry?.path ?? knownPath }
  public var device: String? { entry?.deviceText ?? knownDeviceName ?? knownDeviceID }
  public var scene: String? { entry?.sceneText }
  /// Id of the capture that had its id first: `scan` of `scan~2`; `nil`: it is no twin.
  var twinOf: String? { receivedTwin ?? OutputName.twin(of: id) }
  /// Id of the capture of which an upload server keeps this one apart, because their contents differ.
  var receivedTwin: String? { entry?.received?.manifest?.twinOf ?? knownTwin }
  public var warnings: [CaptureWarning] { entry?.warnings ?? knownWarnings }
  /// Streams that have lost more than the pipeline accepts, of a capture that is done.
  var shortfalls: [Shortfall] { state.isReady ? entry?.shortfalls ?? knownShortfalls : [] }
  public var warningCount: WarningCount { warnings.counted }
  /// The verdict on its quality; `nil`: no stage has judged it.
  public var quality: CaptureQuality? { entry?.quality }

  /// Whether a person has to act: by its state, because files are missing or a stream has lost too much, or
  /// because a stage that was asked for is not done; if `isStrict` also for warnings. A marked one needs none.
  public func needsPerson(isStrict: Bool) -> Bool {
    if mark?.isAcknowledged == true { return false }
    return wouldNeedPerson || (isStrict && !warningCount.isNone)
  }

  /// Whether the capture would need a person if no mark were set on it.
  var wouldNeedPerson: Bool {
    state.needsPerson(
      isShort: !shortfalls.isEmpty, missing: condition.missing, isAcknowledged: false)
      || (entry?.stages ?? []).contains(where: \.state.isLack)
  }

  /// In what is shown to others.
  public var subject: Redaction.Subject {
    entry?.subject
      ?? Redaction.Subject(
        id: id, family: family, path: path, deviceID: knownDeviceID, deviceName: knownDeviceName)
  }
}

extension CaptureRow {
  /// A capture that has no output folder and that was never worked on.
  public init(waiting: WatchRecord.Waiting) {
    self.init(
      id: waiting.id, condition: CaptureCondition(waiting, watcher: nil, history: nil),
      knownFamily: waiting.family, knownPath: PathText.shown(waiting.path),
      knownFolder: waiting.path)
    knownTwin = waiting.twinOf
    if waiting.since.isEmpty { condition.since = nil }
  }
}

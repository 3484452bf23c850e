import Captures
import Core
import SystemPackage

/// One capture as every view shows it: what its folder in the output and the capture itself tell, what runs and a
/// watcher know of it, how it stands, and why. The catalog keeps the first part, an extension in `Catalog/Answers`
/// decides the state, and all documents, texts and pages only read it.
public struct CaptureRow: Hashable, Sendable, Encodable {
  /// What is published of a stage.
  struct Timing: Hashable, Sendable {
    var stage: String
    var seconds: Double
    var cpuSeconds: Double
    var frames: Int
    var bytes: Int64
    var outputs: Int
    /// The end of the work in UTC (ISO 8601).
    var finished: String
  }

  /// The files of the capture as they were when it was last opened.
  struct Received: Hashable, Sendable {
    var files: Int
    var bytes: Int64
    /// When the last of them was written here, or last moved; `nil`: not known.
    var arrivedNanoseconds: Int64?
    /// `nil`: no upload server noted anything.
    var manifest: UploadCounts?
    /// Names of files that are known to be others than the server compared (`UploadRecord.altered`).
    var altered: [String] = []
  }

  // MARK: What the output and the capture tell

  /// The name of its folder in the output.
  public var id: String
  /// The capture's name before that became a folder name; `nil`: it has no folder yet.
  var name: String?
  public var family: String?
  public var state = CaptureState.queued
  /// Place of the capture, for people.
  public var path: String?
  /// The path as `PathText` carries it.
  var folder: String?
  var stem: String?
  /// Path of the capture page, relative to the output folder; `nil`: nothing of the capture was processed.
  public var page: String?
  /// Names that its folder in the output had before.
  var formerNames: [String] = []
  /// `nil`: nothing was asked for yet.
  public var pipeline: String?
  /// Parameters that its last run was given on top of the pipeline: `stage.parameter=value`, without secrets.
  var settings: [String] = []
  /// Whether the capture could not be looked at: what is said of stages comes from their records.
  var inputGone = false
  /// Whether the capture's place is not there any more.
  public var gone = false
  /// Who works on it.
  var lockedBy: String?
  var notes: [String] = []
  public var stages: [StageStatus] = []
  /// Warnings of opening and of all stages, and one for each shortfall; notes come last.
  public var warnings: [CaptureWarning] = []
  /// Streams that have lost more of what the capture declares than the pipeline accepts.
  public var shortfalls: [Shortfall] = []
  /// Files that a complete upload would have.
  public var missing: [String] = []
  /// Whether it is one file, in which they would lie; known where any is missing.
  public var isOneFile = false
  public var deviceInfo = DeviceInfo()
  public var sceneInfo = SceneInfo()
  /// Who recorded it, where the app asks.
  public var user: String?
  public var recordedAt: String?
  public var frames: Int?
  var timings: [Timing] = []
  /// How the last attempts of stages failed; in a report of a night all failures, the one that decides first.
  public var failures: [Failure] = []
  /// What a watcher noted of the attempts at it.
  var triage: Failure?
  /// The verdict on its quality; `nil`: no stage has judged it.
  public var quality: CaptureQuality?
  /// `nil`: it was not recorded.
  var received: Received?

  // MARK: How it stands

  /// Why it is failed or quarantined, or its upload stalled.
  public var failure: Failure?
  /// Failed attempts since it was last done.
  public var attempts = 0
  /// When it is tried again at the earliest (UTC, ISO 8601).
  public var retryAt: String?
  /// Since when it is in this state, where that is known.
  public var since: String?
  /// What a queued capture waits for: `worker`, `window`, `disk`, `lock`, `output`.
  public var waitsFor: String?
  /// Bytes of the disk that a capture is expected to write, where it waits for that.
  public var neededBytes: Int64?
  /// How far an upload has come that has stalled; `nil` in every other state.
  public var upload: UploadProgress?
  /// What a person decided about it, also where that counts no more.
  public var mark: CaptureMark?
  /// Why it needs a person; empty: it needs no person. Set by `judge`.
  public var reasons: [NeedReason] = []

  // MARK: What runs and other captures tell

  /// When it was last worked on (UTC, ISO 8601).
  public var lastRun: String?
  /// The id of the last run.
  var lastRunID: String?
  /// When it was first worked on.
  var firstRun: String?
  /// The pipeline as the last run was given it: a name or a path.
  var lastPipeline: String?
  /// Whether it waits, and neither a run nor a watcher is at work to take it.
  var isLeft = false
  /// A watcher looks after it, or has.
  var isWatched = false
  /// Its stages are compared with what a command line asks for: no person is needed for what that would make anew.
  var isAskedAnew = false
  /// Place of the capture whose name this one got with `~2`, if it is known.
  var pathOfNamesake: String?
  /// The id of the capture that had a waiting capture's id first.
  var waitingTwin: String?

  /// Outcome of the last run that worked on it; in a report of a night of the last of the selected ones.
  public var outcome: RunOutcome?

  // MARK: In a report of a night

  /// What the last run of the capture took.
  public var seconds: Double?
  /// What to type to try again; `nil`: nothing to try.
  public var command: String?
  /// Whether it may be deleted on its device; `nil`: not asked.
  public var custody: Custody?
  /// Element of a run on a batch system: where it ran, and what was asked for against what was used.
  public var cluster: ClusterTrace?

  /// What people know the device by: its name, else its model, else its id.
  public var device: String? { deviceInfo.name ?? deviceInfo.model ?? deviceInfo.id }
  /// What people know the scene by: its label, else its description, else its kind.
  public var scene: String? { sceneInfo.label ?? sceneInfo.description ?? sceneInfo.type }
  public var needsPerson: Bool { !reasons.isEmpty }
  /// Whether it is of poor quality, and nothing says that it is known to be.
  public var isPoor: Bool { quality?.verdict == .poor && mark?.isCurrent != true }
  var shownStages: [StageStatus] { stages.filter(\.isShown) }

  /// The word for its state in texts: of what waits for a person also what became of it in its last run.
  public var stateWords: String {
    guard isLeft, let outcome, outcome == .interrupted || outcome == .skipped else {
      return state.words
    }
    return outcome.words
  }

  /// Id of the capture that had its id first: `scan` of `scan~2`; `nil`: it is no twin.
  public var twinOf: String? { receivedTwin ?? OutputName.twin(of: id) }
  /// Id of the capture of which an upload server keeps this one apart, because their contents differ.
  var receivedTwin: String? { received?.manifest?.twinOf ?? waitingTwin }

  /// What to do, each sentence once, in the order of the reasons.
  public var remedies: [String] {
    reasons.compactMap(\.remedy).uniqued
  }

  /// What lies in the output of it; removed intermediates are not in it.
  var bytes: Int64 { timings.reduce(0) { $0 &+ $1.bytes } }
  /// When the newest of what is published was made (UTC, ISO 8601).
  var lastPublished: String? { timings.map(\.finished).max() }

  /// Whether every stage that was asked for is done, or does not apply.
  var isUpToDate: Bool { !stages.isEmpty && !stages.contains(where: \.state.isLack) }

  /// Exports that were asked for and do not apply; other stages are left out: that a family records no depth is no news
  /// in every report.
  var inapplicable: [StageStatus] {
    stages.filter {
      $0.state == .notApplicable && $0.uses.hasPrefix("export-") && $0.uses != "export-images"
    }
  }

  /// What `--search` looks in: id, scene and device, each on a line, in lower case.
  var searchText: String {
    [
      id, name, sceneInfo.label, sceneInfo.type, sceneInfo.description, deviceInfo.id,
      deviceInfo.name, deviceInfo.model,
    ].compactMap(\.self).joined(separator: "\n").lowercased()
  }

  /// What must not be told of it to everybody.
  public var subject: Redaction.Subject {
    Redaction.Subject(
      id: id, family: family, names: name == nil ? [] : [name, stem, folder].compactMap(\.self),
      path: path, deviceID: deviceInfo.id, deviceName: deviceInfo.name,
      scene: [sceneInfo.label, sceneInfo.description].compactMap(\.self), user: user)
  }

  /// Stages that a run would make again.
  var staleStages: [String] {
    shownStages.filter { $0.state == .stale || $0.state == .missing }.map(\.stage)
  }

  /// What to type to try again; `nil`: there is nothing to try.
  func command(output root: FilePath) -> String? {
    let isStale = reasons.contains { $0.code == .stale }
    guard state == .failed || state == .quarantined || isStale || isLeft, !gone, let folder else {
      return nil
    }
    var words = ["scanmill", "run", folder, "--output", root.text]
    if let lastPipeline, lastPipeline != "default" { words += ["--pipeline", lastPipeline] }
    for setting in settings { words += ["--set", setting] }
    if isStale { words += ["--until", staleStages.joined(separator: ",")] }
    return ShellText.command(words + ["--id", id])
  }

  // In a document every key is there, `null` where nothing is known: scripts need not ask whether it is.

  private enum Key: CodingKey {
    case id, state, family, device, scene, recordedAt, attempts, needsPerson, reasons, warnings,
      warningCount, missing, lastRun, path, gone, retryAt, since, waitsFor, neededBytes,
      shortfalls, upload, mark, twinOf, quality
    // Keys of `status`.
    case run, cause, message, stages, pipeline, inputGone, lockedBy, notes
    // Keys of `report`.
    case outcome, failures, seconds, frames, page, user, command, notApplicable, cluster, custody
  }

  /// A capture of `status --json`.
  struct InStatus: Encodable {
    var row: CaptureRow

    func encode(to encoder: any Encoder) throws {
      try row.encodeCommon(to: encoder)
      var object = encoder.container(keyedBy: Key.self)
      try object.encode(row.lastRunID, forKey: .run)
      try object.encode(row.failure?.cause, forKey: .cause)
      try object.encode(row.failure?.message, forKey: .message)
      try object.encode(row.shownStages, forKey: .stages)
      try object.encode(row.pipeline, forKey: .pipeline)
      try object.encode(row.inputGone, forKey: .inputGone)
      try object.encodeIfPresent(row.lockedBy, forKey: .lockedBy)
      try object.encode(row.notes, forKey: .notes)
    }
  }

  /// A capture of `report --json`.
  public func encode(to encoder: any Encoder) throws {
    try encodeCommon(to: encoder)
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(outcome, forKey: .outcome)
    var list = object.nestedUnkeyedContainer(forKey: .failures)
    for failure in failures {
      var told = list.nestedContainer(keyedBy: Failure.CodingKeys.self)
      try told.encode(failure.stage, forKey: .stage)
      try told.encode(failure.text, forKey: .message)
      try told.encode(failure.log, forKey: .log)
      try told.encode(failure.cause, forKey: .cause)
      try told.encodeIfPresent(failure.detail, forKey: .detail)
      try told.encode(failure.attempts ?? 1, forKey: .attempts)
    }
    try object.encode(seconds, forKey: .seconds)
    try object.encode(frames, forKey: .frames)
    try object.encode(page, forKey: .page)
    try object.encode(user, forKey: .user)
    try object.encode(command, forKey: .command)
    if !inapplicable.isEmpty {
      try object.encode(
        inapplicable.map { ["stage": $0.stage, "reason": $0.details ?? ""] },
        forKey: .notApplicable)
    }
    try object.encodeIfPresent(cluster, forKey: .cluster)
    try object.encodeIfPresent(custody, forKey: .custody)
  }

  private func encodeCommon(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(id, forKey: .id)
    try object.encode(state, forKey: .state)
    for (key, text) in [
      (Key.family, family), (.device, device), (.scene, scene), (.recordedAt, recordedAt),
      (.lastRun, lastRun), (.path, path), (.retryAt, retryAt), (.since, since),
      (.waitsFor, waitsFor),
    ] {
      try object.encode(text, forKey: key)
    }
    try object.encode(attempts, forKey: .attempts)
    try object.encode(needsPerson, forKey: .needsPerson)
    try object.encode(reasons, forKey: .reasons)
    try object.encode(warnings, forKey: .warnings)
    try object.encode(warnings.counted.kinds, forKey: .warningCount)
    try object.encode(missing, forKey: .missing)
    try object.encode(gone, forKey: .gone)
    if !shortfalls.isEmpty { try object.encode(shortfalls, forKey: .shortfalls) }
    try object.encodeIfPresent(neededBytes, forKey: .neededBytes)
    try object.encodeIfPresent(upload, forKey: .upload)
    try object.encodeIfPresent(mark, forKey: .mark)
    try object.encodeIfPresent(twinOf, forKey: .twinOf)
    try object.encodeIfPresent(quality, forKey: .quality)
  }
}

/// A stage of a capture, with the reason for what it is not.
public struct StageStatus: Sendable, Codable, Hashable {
  public var stage: String
  public var uses: String
  public var state: StageState
  /// Why the next run would run it.
  public var reason: Reason?
  /// Old and new values, the message of the failure, what blocks.
  public var details: String?
  /// `true`: the capture's last run asked for it by name and it does not apply; else `nil`.
  var askedByName: Bool?
  /// Whether it is a step inside of a stage (`partOf`), which views do not tell of.
  var isInner = false
  /// Whether views tell of it: a step inside of a stage only where it has failed.
  var isShown: Bool { !isInner || state == .failed || state == .obstructed }

  private enum CodingKeys: CodingKey { case stage, uses, state, reason, details, askedByName }
}

/// How a stage of a capture stands.
public enum StageState: String, Codable, Sendable, CaseIterable {
  /// Published and up to date.
  case done
  /// Published, and the next run would make it anew.
  case stale
  /// The last attempt failed.
  case failed
  /// A folder without a record that can be believed, or something else that is not ours, is in the place of its results:
  /// it cannot be made until that is moved away.
  case obstructed
  /// Something it needs failed.
  case blocked
  /// The stage is not built yet.
  case missing
  case notApplicable = "not-applicable"
  /// The stage was not asked for (`ExaminedCapture.asked`): it counts nowhere.
  case notRequested = "not-requested"

  /// Whether something that was asked for is not there as it should be.
  var isLack: Bool {
    switch self {
    case .stale, .failed, .obstructed, .blocked, .missing: true
    case .done, .notApplicable, .notRequested: false
    }
  }
}

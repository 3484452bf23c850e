import Captures
import Core
import SystemPackage

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
  /// Streams that have lost more than the pipeline accepts, whatever the state.
  var shortfalls: [Shortfall] { entry?.shortfalls ?? knownShortfalls }
  public var warningCount: WarningCount { warnings.counted }
  /// What lies in the output of it; removed intermediates are not in it.
  var bytes: Int64 { entry?.timings.reduce(0) { $0 &+ $1.bytes } ?? 0 }
  /// The verdict on its quality; `nil`: no stage has judged it.
  public var quality: CaptureQuality? { entry?.quality }

  /// Why it needs a person; empty: it needs no person. Cost: for one that does, a look at its place.
  public var reasons: [NeedReason] {
    NeedReason.all(
      state, failure: condition.failure, missing: condition.missing,
      altered: entry?.received?.altered ?? [], shortfalls: shortfalls, upload: condition.upload,
      mark: mark, remedy: knownRemedy)
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

extension CaptureRow {
  /// Whether it may be deleted on its device, and why not.
  var custody: Custody {
    let received = entry?.received
    let manifest = received?.manifest
    let missing = condition.missing.count
    return Custody(
      receivedFiles: received?.files, receivedBytes: received?.bytes,
      expectedFiles: manifest.map { max($0.files, 0) } ?? received.map { $0.files + missing },
      verifiedBy: manifest.flatMap { doubts($0).isEmpty ? .manifest : nil }, lacks: lacks(manifest))
  }

  private func lacks(_ manifest: UploadCounts?) -> [String] {
    var lacks: [String] = []
    switch state {
    case .done: break
    case .failed, .quarantined:
      lacks.append("\(state.words)" + (condition.failure?.stage.map { ": stage \($0)" } ?? ""))
    default: lacks.append(state.words)
    }
    if !condition.missing.isEmpty { lacks.append(OutcomeWords.lacks(condition.missing)) }
    if let manifest { lacks += doubts(manifest) }
    if state == .done {
      guard let entry else { return lacks + ["nothing of it was processed"] }
      if family == nil { lacks.append("of no known family") }
      lacks += shortfalls.map(\.lossWords)
      for stage in entry.stages where stage.state.isLack {
        lacks.append("stage \(stage.stage) is \(stage.state.rawValue)")
      }
      if entry.received == nil { lacks.append("which files were received is not recorded") }
      if entry.gone || entry.inputGone {
        lacks.append("its files are no longer in the place that they were processed from")
      }
    }
    let codes = Set(warnings.withoutNotes.map(\.code)).filter {
      $0.cure == .copy && $0 != .shortfall
    }
    if !codes.isEmpty {
      let names = WarningCode.allCases.filter(codes.contains).map(\.rawValue)
      lacks.append("warnings ask for another copy: \(names.joined(separator: ", "))")
    }
    if lacks.isEmpty, !reasons.isEmpty { lacks.append("it needs you") }
    return lacks.isEmpty && manifest == nil ? [Custody.notCompared] : lacks
  }

  /// Why a manifest does not prove that all files are as they are on the device.
  private func doubts(_ manifest: UploadCounts) -> [String] {
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
    if let files = entry?.received?.files, files > manifest.files {
      doubts.append(
        "\(files - manifest.files) of \(files) files did not come through the upload server")
    }
    return doubts
  }
}

extension CaptureRow {
  /// What is known of the capture for the words of remedies.
  private var knownRemedy: Remedy {
    var remedy = Remedy(state: state.rawValue)
    remedy.failure = condition.failure
    remedy.family = family
    remedy.attempts = condition.attempts
    remedy.missing = condition.missing
    remedy.folder = path
    remedy.isOneFile = isOneFile
    remedy.isGone = condition.gone
    remedy.retryAt = condition.retryAt.map {
      NightClock.words($0, now: FileStamp.nowNanoseconds())
    }
    remedy.waitsFor = condition.waitsFor
    remedy.isWatched = isWatched
    return remedy
  }

  /// What is to be done so that a queued one goes on; `nil`: nothing.
  var waitingRemedy: String? { state == .queued ? knownRemedy.sentence : nil }

  /// Whether its place is a file. Cost: a look at it where a sentence depends on it.
  private var isOneFile: Bool {
    guard let place = entry?.folder ?? knownFolder else { return false }
    let path = FilePath(text: place)
    return FileSystem.exists(path) && !FileSystem.isFolder(path)
      && entry?.stem == nil && knownStem == nil
  }

  /// What to type to try again; `nil`: there is nothing to try.
  func command(output root: FilePath) -> String? {
    guard state == .failed || state == .quarantined, !condition.gone else { return nil }
    guard let folder = entry?.folder ?? knownFolder else { return nil }
    var words = ["scanmill", "run", folder, "--output", root.text]
    if let pipeline, pipeline != "default" { words += ["--pipeline", pipeline] }
    for setting in entry?.settings ?? [] { words += ["--set", setting] }
    return ShellText.command(words + ["--id", id])
  }
}

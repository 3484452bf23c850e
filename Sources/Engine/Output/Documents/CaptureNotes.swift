import Captures
import Core
import SystemPackage

/// `.scanmill/memo.json`: what is known of a capture since it was last opened, and how it was asked to
/// be processed. It lets others plan, tell and explain without opening the capture, also when its files
/// are gone.
public struct CaptureCache: Hashable, Sendable, Codable {
  public var schema = 1
  public var id: String
  public var family: CaptureFamily
  var generation: String
  public var folder: String
  var stem: String?
  var summary: CaptureSummary
  /// Warnings of opening; stages found more.
  public var warnings: [CaptureWarning]
  public var inputs: InputListing
  /// What it was asked for; empty when no run was given its pipeline as a text.
  public var requests: Requests

  init(
    _ capture: Capture, _ recognition: Recognition, summary: CaptureSummary, inputs: InputListing,
    requests: Requests
  ) {
    id = capture.id
    family = capture.family
    generation = capture.generation
    folder = recognition.path.text
    stem = recognition.stem
    self.summary = summary
    warnings = capture.warnings
    self.inputs = inputs
    self.requests = requests
  }

  /// What is written down in an output folder; `nil` when it is absent or damaged.
  public init?(of layout: OutputLayout) {
    guard let notes = layout.openNotes() else { return nil }
    self.init(in: notes)
  }

  /// Reads the cache of an output that is held open.
  init?(_ open: OpenOutput) {
    guard let bytes = open.note(OutputNames.captureCache) else { return nil }
    self.init(reading: bytes)
  }

  /// What an index holds of it.
  init(_ core: RecordIndex.Core, requests: Requests) {
    id = core.summary.id
    family = core.summary.family
    generation = core.generation
    folder = core.inputs.folder
    stem = core.inputs.stem
    summary = core.summary
    warnings = core.warnings
    inputs = core.inputs
    self.requests = requests
  }

  /// Reads the cache in notes that are held open.
  init?(in notes: HeldFolder) {
    guard let bytes = notes.stampedContents(of: OutputNames.captureCache)?.bytes else { return nil }
    self.init(reading: bytes)
  }

  private init?(reading bytes: [UInt8]) {
    guard let cache = try? CaptureCache(json: bytes),
      cache.schema == 1
    else { return nil }
    self = cache
  }

  /// The recognition by which the capture was found.
  public var recognition: Recognition {
    let path = FilePath(text: folder)
    return isOneFile
      ? Recognition(
        family: family, certainty: .certain, file: path, id: id, reason: "remembered")
      : Recognition(
        family: family, certainty: .certain, folder: path, stem: stem, id: id, reason: "remembered")
  }

  /// Whether the capture is one file, at `folder`.
  var isOneFile: Bool { inputs.isOneFile }

  /// Whether it is about the capture of `recognition`.
  func isAbout(_ recognition: Recognition) -> Bool {
    family == recognition.family && folder == recognition.path.text && stem == recognition.stem
  }

  /// Writes it down unless it stands there already.
  package func write(to output: CaptureOutput) throws {
    let bytes = try JSONText.pretty(self)
    let name = OutputNames.captureCache
    if try output.notes.contents(of: name) == bytes { return }
    try output.notes.replace(name, with: bytes)
  }

  /// Notes that `clean` removed artifacts of a capture. Only for the holder of the lock.
  ///
  /// - Parameter moment: UTC.
  static func noteCleaned(_ stages: [String], at moment: String, in output: CaptureOutput)
    throws(FileError)
  {
    try renew(in: output.notes) { cache, index in
      for stage in stages { cache.requests.cleaned[stage] = moment }
      index?.core.requests = cache.requests.digest
      return true
    }
  }

  /// Writes the cache in notes anew, and the index that was made from it, which would count no more: the capture would be
  /// opened to plan for it. Only for the holder of the lock. Whether it was written.
  ///
  /// - Parameter change: whether there is anything to write.
  @discardableResult
  static func renew(
    in notes: HeldFolder, _ change: (inout CaptureCache, inout RecordIndex?) -> Bool
  ) throws(FileError) -> Bool {
    guard let before = notes.stamp(of: OutputNames.captureCache),
      var cache = CaptureCache(in: notes)
    else { return false }
    var index = RecordIndex(in: notes, cacheStamp: before, pool: ParameterPool())
    guard change(&cache, &index), let bytes = try? JSONText.pretty(cache) else { return false }
    try notes.replace(OutputNames.captureCache, with: bytes)
    if let index, let after = notes.stamp(of: OutputNames.captureCache),
      let bytes = try? index.encoded(cacheStamp: after)
    {
      try? notes.replace(OutputNames.index, with: bytes, durably: false)
    }
    return true
  }
}

extension Requests {
  /// Whether a capture of an output was asked for the stage of a setting; secrets count for none, since notes tell them
  /// from other values by the pipeline that has the stage. Throws where the stage does not take it. Cost: a small file for
  /// each capture until there is one.
  public static func take(
    _ setting: ParameterSetting, ofOutput root: FilePath, _ registry: StageRegistry
  ) throws(SettingError) -> Bool {
    let reader = RequestReader(registry)
    for layout in (try? OutputCatalog.candidates(in: root)) ?? [] {
      guard let requests = CaptureCache(of: layout)?.requests,
        let asked = reader.read(requests), let stage = asked.pipeline[setting.stage],
        asked.choice.stages(of: asked.pipeline).contains(setting.stage)
      else { continue }
      _ = try asked.pipeline.setting(setting)
      return !stage.kind.parameters.contains { $0.isSecret && $0.name == setting.parameter }
    }
    return false
  }
}

/// Failures as they are noted in an output. `.failed/<stage>/failure.json` tells why the last attempt of a stage
/// failed; `DIR/<capture-id>/.scanmill/triage.json` how often attempts at the capture have failed since its files, the
/// program and the pipeline last changed, and is absent when none has. The latter is the only place that quarantine
/// stands in: nothing is moved or deleted.
extension Failure {

  /// `nil` for other bytes than those of a note.
  init?(note bytes: [UInt8]) {
    guard let note = try? Failure(json: bytes),
      note.message != nil, note.cause != nil, note.time != nil
    else { return nil }
    self = note
  }

  /// The note of the last attempt of a stage, if that failed. No link is followed below `--output`.
  public init?(of stage: String, _ layout: OutputLayout) {
    guard
      let note = HeldFolder.contents(of: layout.failureNote(stage), below: layout.root)
        .flatMap(Failure.init(note:))
    else { return nil }
    self = note
    // The folder tells the stage: the file does not name it.
    self.stage = stage
  }

  /// The notes of those of `stages` whose last attempt failed, in their order. Cost: one look at a capture without any
  /// failure.
  public static func all(of stages: [String], in open: OpenOutput) -> [Failure] {
    guard open.failed != nil else { return [] }
    return stages.compactMap { Failure(of: $0, open.layout) }
  }

  /// What is noted of the attempts at a capture; `nil`: nothing has failed, the note is damaged, or what was in the place
  /// of a result is there no more.
  public init?(triageOf layout: OutputLayout) { self.init(triageOf: OpenOutput(layout)) }

  init?(triageOf open: OpenOutput) {
    guard let note = NotesFile.read(Failure.self, OutputNames.triage, of: open), note.key != nil,
      note.message != nil, note.cause != nil, note.time != nil
    else { return nil }
    if note.detail?.code == .notOurs, let stage = note.stage,
      let place = try? CaptureOutput(existing: open.layout)?.place(stage),
      place == .free || place == .ours
    {
      return nil
    }
    self = note
  }

  /// Leaves the note, and with it what the attempt had written under `staging`, if it came that far. The
  /// note is written before the folder gets its name: a failed attempt without note is not ours. Failing
  /// to is no further failure.
  func leave(
    for stage: String, partial staging: String?, output: CaptureOutput, attempt: String
  ) {
    var note = self
    note.stage = nil
    guard let bytes = try? JSONText.pretty(note) else { return }
    do {
      let attempts = try output.staging()
      let name = staging ?? OutputLayout.stagingName(stage, attempt: attempt)
      if staging == nil { try attempts.remove(name) }
      let attempt = try attempts.makeFolder(name)
      // A program may have left something of that name.
      try attempt.remove(OutputNames.failure)
      try attempt.write(bytes, as: OutputNames.failure)
      try output.removeFailure(stage)
      let failed = try output.folder.makeFolder(OutputNames.failed)
      try attempts.renameNew(name, to: failed, as: stage)
    } catch {
      // What the attempt had written goes with the next sweep.
    }
  }
}

/// Small JSON files of ours in an output folder that are no artifacts: `DIR/.scanmill/NAME` and
/// `DIR/<capture-id>/.scanmill/NAME`. No link is followed below the output folder.
public enum NotesFile {

  /// `nil` when it is absent, damaged or no file.
  public static func read<Value: Decodable>(
    _ type: Value.Type, _ name: String, of layout: OutputLayout
  ) -> Value? {
    read(type, layout.notes.appending(name), below: layout.root)
  }

  /// Reads a note of an output that is held open.
  public static func read<Value: Decodable>(
    _ type: Value.Type, _ name: String, of open: OpenOutput
  ) -> Value? {
    open.note(name).flatMap { try? Value(json: $0) }
  }

  /// Reads a note of the output folder as a whole.
  public static func read<Value: Decodable>(
    _ type: Value.Type, _ name: String, ofOutput root: FilePath
  ) -> Value? {
    read(type, root.appending(OutputNames.notes).appending(name), below: root)
  }

  private static func read<Value: Decodable>(
    _ type: Value.Type, _ path: FilePath, below root: FilePath
  ) -> Value? {
    HeldFolder.contents(of: path, below: root).flatMap {
      try? Value(json: $0)
    }
  }

  /// Replaces a note of the output folder in one step; its folder is made where it is absent.
  public static func write(_ bytes: [UInt8], _ name: String, ofOutput root: FilePath)
    throws(FileError)
  {
    EnclosedPaths.enclose(root, links: .none)
    try HeldFolder.making(following: root).makeFolder(OutputNames.notes).replace(name, with: bytes)
  }

  /// Replaces a note of a capture that has an output folder; throws where it has none.
  public static func write(_ bytes: [UInt8], _ name: String, of layout: OutputLayout)
    throws(FileError)
  {
    guard let output = try CaptureOutput(existing: layout) else {
      throw FileError(.noSuchFileOrDirectory, path: layout.notes, operation: "write")
    }
    try output.notes.replace(name, with: bytes)
  }

  /// Removes a note of a capture. Failing to is not reported. Cost where there is none: a system call.
  public static func remove(_ name: String, of layout: OutputLayout) {
    guard FileSystem.exists(layout.notes.appending(name)) else { return }
    try? CaptureOutput(existing: layout)?.notes.remove(name)
  }
}

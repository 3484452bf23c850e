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
    guard var cache = CaptureCache(of: output.layout) else { return }
    for stage in stages { cache.requests.cleaned[stage] = moment }
    guard let bytes = try? JSONText.pretty(cache) else { return }
    try output.notes.replace(OutputNames.captureCache, with: bytes)
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

import StageSupport

@testable import Captures
@testable import Core
@testable import Engine

/// A capture and what is published of it, made of values: what the planner is told.
struct Situation {
  var pipeline: PipelineDefinition
  var facts: [String: StageFacts] = [:]

  /// Everything of the usual pipeline is built and up to date.
  init(_ text: String = usualPipeline) throws {
    pipeline = try EngineTests.pipeline(text)
    for stage in pipeline.stages {
      facts[stage.name] = StageFacts(
        applicability: .applies, captureInputs: stage.inputs.isEmpty ? Self.inputs(stage.name) : nil
      )
      try publish(stage.name)
    }
  }

  static func inputs(_ part: String) -> CaptureInputs {
    CaptureInputs(
      family: .scannet, readerVersion: 1, files: [part: [Digest(of: "\(part) of the capture")]])
  }

  /// Builds `stage` from what is there now; `content` makes its output digest, `beside` are more files.
  mutating func publish(
    _ name: String, content: String? = nil, beside: [OutputEntry] = []
  ) throws {
    guard let stage = pipeline[name], let own = facts[name] else { return }
    var artifacts: [String: Digest] = [:]
    for input in stage.inputs {
      artifacts[input.port] = facts[input.stage]?.published.map {
        pipeline.port(of: input, in: stage).digest(of: $0.record)
      }
    }
    let record = try ArtifactRecord(
      stage: name,
      ingredients: Planner(pipeline).fingerprintInputs(of: stage, own, artifacts: artifacts),
      recorded: ["workedOut": .integer(1)],
      outputs: [OutputEntry(path: "out", bytes: 1, sha256: Digest(of: content ?? name))] + beside,
      started: "", finished: "", seconds: 1, cpuSeconds: 1, peakMemoryBytes: 1, frames: 1,
      warnings: [])
    facts[name]?.published = PublishedArtifact(record: record, state: .intact)
  }

  /// Nothing is built.
  mutating func clear() {
    for name in facts.keys { facts[name]?.published = nil }
  }

  mutating func set(_ setting: String) throws {
    guard let setting = ParameterSetting(setting) else { return }
    pipeline = try pipeline.setting(setting)
  }

  mutating func state(_ name: String, _ state: PublishedArtifact.State) {
    facts[name]?.published?.state = state
  }

  mutating func change(_ name: String) {
    facts[name]?.captureInputs?.files[name] = [Digest(of: "other \(name)")]
  }

  mutating func doesNotApply(_ names: String...) {
    for name in names {
      facts[name]?.applicability = .notApplicable("no \(name) here")
      facts[name]?.published = nil
    }
  }

  /// `STAGE ACTION REASON`, in pipeline order; what is up to date is left out.
  func plan(_ selection: Selection = Selection()) -> [String] {
    jobs(selection).filter { $0.action != .upToDate }.map {
      "\($0.stage) \($0.action.rawValue)" + ($0.reason.map { " \($0.rawValue)" } ?? "")
    }
  }

  func jobs(_ selection: Selection = Selection()) -> [PlannedJob] {
    Planner(pipeline, selection: selection).plan(facts)
  }
}

extension Selection {
  static func only(_ stage: String) -> Selection {
    var selection = Selection()
    selection.only = [stage]
    return selection
  }

  static func until(_ stage: String) -> Selection {
    var selection = Selection()
    selection.until = [stage]
    return selection
  }

  static func forced(_ stages: String...) -> Selection {
    var selection = Selection()
    selection.forced = Set(stages)
    return selection
  }

  static var all: Selection {
    var selection = Selection()
    selection.forceAll = true
    return selection
  }

  func only(_ stage: String) -> Selection {
    var selection = self
    selection.only = [stage]
    return selection
  }
}

enum MakeColor: FakeStage {
  static let name = "make-color"
  static let every = Parameter("every", .integer(1...Int.max), default: 1, "Every n-th.")
  static let parameters = ParameterDescription.list(
    every, Parameter("first", .integer(0...Int.max), "The first."))
  static let content = ArtifactContent.colorImages
}

enum MakeFrames: FakeStage {
  static let name = "make-frames"
  enum Mode: String, CaseIterable {
    case fast, slow
  }

  static let range = Parameter("range", .lengthRange, "What counts.")
  static let shifts = Parameter("shifts", .flag, default: false, "Shifts too.")
  static let minimum = Parameter("minimum", .integer(0...255), "Confidence.")
  static let scale = Parameter("scale", .number(0...10), default: 1, "Factor.")
  static let window = Parameter(
    "window", .duration(0...60_000_000_000), default: 50_000_000, "Time.")
  static let change = Parameter("change", .length(0...10), "Length.")
  static let mode = Parameter("mode", .choice(), default: Mode.fast, "Way.")
  static let note = Parameter("note", .text, "Text.")
  static let table = Parameter("table", .file, "A file.")
  static let arguments = Parameter("arguments", .list, "Texts.")
  static let parameters = ParameterDescription.list(
    range, shifts, minimum, scale, window, change, mode, note, table,
    Parameter("tables", .folder, "A folder."), arguments)
  static let content = ArtifactContent.depthFrames
}

enum ExportDepth: FakeStage {
  static let name = "export-depth"
  static let ports = [Port("frames", .depthFrames, isRequired: false, "frames")]
  enum Stream: String, CaseIterable {
    case depth, confidence
  }

  static let stream = Parameter("stream", .choice(), default: Stream.depth, "Which.")
  static let parameters = ParameterDescription.list(stream)
  static let content = ArtifactContent.depthImages
  static func content(_ parameters: ParameterValues) -> ArtifactContent {
    parameters[stream] == .confidence ? .confidenceImages : content
  }
}

enum Align: FakeStage {
  static let name = "align"
  static let ports = [Port("frames", .depthFrames, isRequired: true, "frames")]
  static let content = ArtifactContent.alignedImages
}

/// Two inputs of one kind.
enum Compare: FakeStage {
  static let name = "compare"
  static let ports = [
    Port("left", .depthImages, isRequired: true, "one"),
    Port("right", .depthImages, isRequired: false, "the other"),
  ]
  static let content = ArtifactContent.files
}

enum MakeTables: FakeStage {
  static let name = "make-tables"
  static let namesFilesOfInputs = true
  static let ports = [
    Port("color", .colorImages, isRequired: false, "pictures"),
    Port("depth", .depthImages, isRequired: false, "pictures"),
    Port("aligned", .alignedImages, isRequired: false, "pictures"),
  ]
  static let content = ArtifactContent.tables
}

/// Reads what it makes.
enum Pass: FakeStage {
  static let name = "pass"
  static let ports = [Port("before", .files, isRequired: false, "files")]
  static let content = ArtifactContent.files
}

extension StageRegistry {
  static let fakes = StageRegistry([
    MakeColor.self, MakeFrames.self, ExportDepth.self, Align.self, Compare.self, MakeTables.self,
    Pass.self,
  ])
}

/// A pipeline text that must be right.
func pipeline(_ text: String) throws -> PipelineDefinition {
  try PipelineReader.read(text, file: "test.yaml", registry: .fakes)
}

/// The shape of the pipeline that comes with the program.
let usualPipeline = """
  schema: 1
  stages:
    color: {uses: make-color}
    frames: {uses: make-frames, partOf: depth, keep: false}
    depth: {uses: export-depth, needs: [frames]}
    aligned: {uses: align, needs: [frames]}
    tables: {uses: make-tables, optional: [color, depth, aligned]}
  """

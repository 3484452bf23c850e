@testable import Engine
import StageSupport

enum MakeColor: FakeStage {
  static let name = "make-color"
  static let every = Parameter("every", .integer(1...Int.max), default: 1, "Every n-th.")
  static let parameters = ParameterDescription.list(
    every, Parameter("first", .integer(0...Int.max), "The first."))
  static func content(_ parameters: ParameterValues) -> ArtifactContent { .colorImages }
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
  static func content(_ parameters: ParameterValues) -> ArtifactContent { .depthFrames }
}

enum ExportDepth: FakeStage {
  static let name = "export-depth"
  static let ports = [Port("frames", .depthFrames, isRequired: false, "frames")]
  enum Stream: String, CaseIterable {
    case depth, confidence
  }

  static let stream = Parameter("stream", .choice(), default: Stream.depth, "Which.")
  static let parameters = ParameterDescription.list(stream)
  static func content(_ parameters: ParameterValues) -> ArtifactContent {
    parameters[stream] == .confidence ? .confidenceImages : .depthImages
  }
}

enum Align: FakeStage {
  static let name = "align"
  static let ports = [Port("frames", .depthFrames, isRequired: true, "frames")]
  static func content(_ parameters: ParameterValues) -> ArtifactContent { .alignedImages }
}

/// Two inputs of one kind.
enum Compare: FakeStage {
  static let name = "compare"
  static let ports = [
    Port("left", .depthImages, isRequired: true, "one"),
    Port("right", .depthImages, isRequired: false, "the other"),
  ]
  static func content(_ parameters: ParameterValues) -> ArtifactContent { .files }
}

enum MakeTables: FakeStage {
  static let name = "make-tables"
  static let namesFilesOfInputs = true
  static let ports = [
    Port("color", .colorImages, isRequired: false, "pictures"),
    Port("depth", .depthImages, isRequired: false, "pictures"),
    Port("aligned", .alignedImages, isRequired: false, "pictures"),
  ]
  static func content(_ parameters: ParameterValues) -> ArtifactContent { .tables }
}

/// Reads what it makes.
enum Pass: FakeStage {
  static let name = "pass"
  static let ports = [Port("before", .files, isRequired: false, "files")]
  static func content(_ parameters: ParameterValues) -> ArtifactContent { .files }
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

@testable import Engine
import StageSupport

enum MakeColor: FakeStage {
  static let name = "make-color"
  static let parameters = [
    ParameterDescription("every", .integer(1...Int.max), default: .integer(1), "Every n-th."),
    ParameterDescription("first", .integer(0...Int.max), "The first."),
  ]
  static func content(_ parameters: ParameterValues) -> ArtifactContent { .colorImages }
}

enum MakeFrames: FakeStage {
  static let name = "make-frames"
  static let parameters = [
    ParameterDescription("range", .lengthRange, "What counts."),
    ParameterDescription("shifts", .flag, default: .flag(false), "Shifts too."),
    ParameterDescription("minimum", .integer(0...255), "Confidence."),
    ParameterDescription("scale", .number(0...10), default: .number(1), "Factor."),
    ParameterDescription(
      "window", .duration(0...60_000_000_000), default: .duration(nanoseconds: 50_000_000), "Time."),
    ParameterDescription("change", .length(0...10), "Length."),
    ParameterDescription("mode", .choice(["fast", "slow"]), default: .text("fast"), "Way."),
    ParameterDescription("note", .text, "Text."),
    ParameterDescription("table", .file, "A file."),
    ParameterDescription("tables", .folder, "A folder."),
    ParameterDescription("arguments", .list, "Texts."),
  ]
  static func content(_ parameters: ParameterValues) -> ArtifactContent { .depthFrames }
}

enum ExportDepth: FakeStage {
  static let name = "export-depth"
  static let ports = [Port("frames", .depthFrames, isRequired: false, "frames")]
  static let parameters = [
    ParameterDescription(
      "stream", .choice(["depth", "confidence"]), default: .text("depth"), "Which.")
  ]
  static func content(_ parameters: ParameterValues) -> ArtifactContent {
    parameters.text("stream") == "confidence" ? .confidenceImages : .depthImages
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

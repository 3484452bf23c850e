@testable import Engine
import StageSupport

enum MakeFrames: FakeStage {
  static let name = "make-frames"
  static let version = 3
  static let sentence = "Makes frames."
  enum Mode: String, CaseIterable {
    case fast, slow
  }

  static let parameters = ParameterDescription.list(
    Parameter("range", .lengthRange, "What counts."),
    Parameter("mode", .choice(), default: Mode.fast, "Which way."),
    Parameter("every", .integer(1...Int.max), default: 1, "Every n-th frame."),
    Parameter(
      "window", .duration(0...60_000_000_000), default: 50_000_000, "How far samples may be."))
  static func content(_ parameters: ParameterValues) -> ArtifactContent { .depthFrames }
}

enum Export: FakeStage {
  static let name = "export"
  static let sentence = "Writes pictures."
  static let ports = [
    Port("frames", .depthFrames, isRequired: true, "decoded depth"),
    Port("mask", .confidenceImages, isRequired: false, "what to leave out"),
  ]
  static func content(_ parameters: ParameterValues) -> ArtifactContent { .depthImages }
}

enum Tables: FakeStage {
  static let name = "tables"
  static let sentence = "Writes tables."
  static let ports = [Port("depth", .depthImages, isRequired: false, "pictures")]
  static func content(_ parameters: ParameterValues) -> ArtifactContent { .tables }
}

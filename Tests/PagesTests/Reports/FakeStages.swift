@testable import Engine
import StageSupport

enum MakeFrames: FakeStage {
  static let name = "make-frames"
  static let version = 3
  static let sentence = "Makes frames."
  static let parameters = [
    ParameterDescription("range", .lengthRange, "What counts."),
    ParameterDescription("mode", .choice(["fast", "slow"]), default: .text("fast"), "Which way."),
    ParameterDescription("every", .integer(1...Int.max), default: .integer(1), "Every n-th frame."),
    ParameterDescription(
      "window", .duration(0...60_000_000_000), default: .duration(nanoseconds: 50_000_000),
      "How far samples may be."),
  ]
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

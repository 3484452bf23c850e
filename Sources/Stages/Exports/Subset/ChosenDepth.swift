import Captures
import Engine
import SystemPackage

/// Decodes the depth of the frames that were chosen for an export, in place of the stage that
/// decodes all of it.
enum ChosenDepth: Stage {
  static let name = "chosen-depth"
  static let version = 1
  static let sentence = "Decodes the depth of the frames that an export has chosen."
  static let ports = [
    Port(ChosenFrames.port, .colorImages, isRequired: true, "the frames that were chosen")
  ]
  static let parameters = DecompressDepth.parameters

  static func content(_ parameters: ParameterValues) -> ArtifactContent { .depthFrames }

  static func reads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> { DecompressDepth.reads(parameters, connected: ports) }

  static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability { DecompressDepth.applicability(parameters, capture) }

  static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] { DecompressDepth.externalFiles(parameters, capture) }

  static func run(_ context: StageContext) throws -> StageResult {
    guard let input = context.inputs[ChosenFrames.port] else { return StageResult(frames: 0) }
    return try DecompressDepth.write(context, only: ChosenFrames(input).frames)
  }
}

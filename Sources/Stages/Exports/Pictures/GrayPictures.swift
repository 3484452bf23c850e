import Captures
import Media
import Core
import Engine
import Processing

/// Makes color pictures as 8-bit gray PNG, once for all formats that need gray.
enum GrayPictures: Stage {
  static let name = "gray-pictures"
  static let version = 1
  static let sentence =
    "Writes color pictures as 8-bit gray PNG once for all exports that take gray."
  static let ports = [
    Port("color", .colorImages, isRequired: true, "color pictures")
  ]
  static let parameters = ParameterDescription.list(CommonParameters.compression)

  static let content = ArtifactContent.grayImages

  static let reads: Set<CapturePart> = [.color]

  /// Applies if one of the formats that read it does.
  static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    let needs: ExportNeeds = [.picture, .time]
    return needs.applicability(name, parameters, capture)
  }

  static func run(_ context: StageContext) throws -> StageResult {
    guard let input = context.inputs["color"] else { return StageResult(frames: 0) }
    let pictures = try ExportPictures(input)
    let compression = context.parameters[CommonParameters.compression]
    return try pictures.remake(pictures.frames, context) {
      Scratch(writer: PNGWriter(compression: compression))
    } write: { frame, rgb, width, height, scratch in
      GrayConversion.gray(fromRGB: rgb, into: &scratch.gray)
      try scratch.writer.encode(
        gray8: scratch.gray, width: width, height: height, into: &scratch.file)
      try context.staging.write(scratch.file, as: FrameFileName.name(frame))
    }
  }

  private struct Scratch: ~Copyable {
    var writer: PNGWriter
    var gray: [UInt8] = []
    var file: [UInt8] = []
  }
}

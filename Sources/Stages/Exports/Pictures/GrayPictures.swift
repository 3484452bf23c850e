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

  static func content(_ parameters: ParameterValues) -> ArtifactContent { .grayImages }

  static func reads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> { [.color] }

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
    let frames = pictures.frames
    context.progress.expect(frames.count)
    let redecoder = try ColorRedecoder(context, input.record, frames: frames)
    let compression = context.parameters[CommonParameters.compression]
    let done = try redecoder?.pull {
      Scratch(writer: PNGWriter(compression: compression))
    } work: { frame, rgb, width, height, scratch in
      try scratch.write(rgb, width, height, as: frame, context.staging)
    }
    let rest = frames.filter { done?.contains($0) != true }
    try context.each(rest) { (frame: Int, scratch: inout Scratch) in
      let picture = try pictures.color(frame)
      try scratch.write(picture.rgb, picture.width, picture.height, as: frame, context.staging)
    } makeScratch: {
      Scratch(writer: PNGWriter(compression: compression))
    }
    var result = StageResult(frames: frames.count, recorded: pictures.toRecord)
    result.externalCPUSeconds = redecoder?.decoderCPUSeconds ?? 0
    return result
  }

  private struct Scratch: ~Copyable {
    var writer: PNGWriter
    var gray: [UInt8] = []
    var file: [UInt8] = []

    mutating func write(
      _ rgb: [UInt8], _ width: Int, _ height: Int, as frame: Int, _ staging: StagingFolder
    ) throws {
      GrayConversion.gray(fromRGB: rgb, into: &gray)
      try writer.encode(gray8: gray, width: width, height: height, into: &file)
      try staging.write(file, as: FrameFileName.name(frame))
    }
  }
}

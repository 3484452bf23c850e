import Captures
import Media
import Engine
import Core

/// Makes color pictures as JPEG, once for all formats that accept nothing else. Files that are JPEG
/// already are shared.
enum JPEGPictures: Stage {
  static let name = "jpeg-pictures"
  static let version = 2
  static let sentence =
    "Encodes color pictures as JPEG (quality 95, 4:2:0) once for all exports that take nothing else."
  static let ports = [
    Port("color", .colorImages, isRequired: true, "color pictures")
  ]
  static let parameters: [ParameterDescription] = []

  static func content(_ parameters: ParameterValues) -> ArtifactContent { .jpegImages }

  static func reads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> { [.color] }

  /// Made only where a format reads it, whose own needs may be more.
  static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    let needs: ExportNeeds = [.picture]
    return needs.applicability(name, parameters, capture)
  }

  static func run(_ context: StageContext) throws -> StageResult {
    guard let input = context.inputs["color"] else { return StageResult(frames: 0) }
    let pictures = try ExportPictures(input)
    let frames = pictures.frames
    let form = PictureEncoding.jpeg
    let folder = ExportFolder(context)
    let redecoder = try ColorRedecoder(
      context, input.record, frames: frames.filter { form.encodes($0, pictures) })
    context.progress.expect(frames.count)
    let done = try redecoder?.pull {
      EncodingScratch(writer: try PictureWriter(form, context.parameters))
    } work: { frame, rgb, width, height, scratch in
      try scratch.writer.encode(rgb: rgb, width: width, height: height, into: &scratch.file)
      try context.staging.write(scratch.file, as: FrameFileName.name(frame, "jpg"))
    }
    let rest = frames.filter { done?.contains($0) != true }
    try folder.writePictures(pictures, rest, form) { _, frame, ending in
      FrameFileName.name(frame, ending)
    }
    var result = StageResult(frames: frames.count, recorded: pictures.toRecord)
    result.externalCPUSeconds = redecoder?.decoderCPUSeconds ?? 0
    return result
  }
}

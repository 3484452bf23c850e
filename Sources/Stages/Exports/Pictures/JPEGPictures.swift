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

  static let content = ArtifactContent.jpegImages

  static let reads: Set<CapturePart> = [.color]

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
    let form = PictureEncoding.jpeg
    let shared = pictures.frames.filter { !form.encodes($0, pictures) }
    try ExportFolder(context).sharePictures(pictures, shared, as: "")
    context.progress.advance(by: shared.count)
    let encoded = pictures.frames.filter { form.encodes($0, pictures) }
    return try pictures.remake(encoded, context) {
      try PictureWriter(form, context.parameters)
    } write: { frame, rgb, width, height, writer in
      try writer.encode(rgb: rgb, width: width, height: height)
      try context.staging.write(writer.file, as: FrameFileName.name(frame, "jpg"))
    }
  }
}

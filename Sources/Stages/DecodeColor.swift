import Captures
import Codecs
import Geometry
import Parallel
import Pipeline
import Processing
import Storage
import Synchronization

/// The color video as pictures: every picture once, in presentation order, named by canonical index.
public enum DecodeColor: Stage {
  public static let name = "decode-color"
  public static let version = 5
  public static let sentence =
    "Decodes the color video; every picture once, in presentation order, upright, 8-bit RGB."
  public static let ports: [Port] = []
  public static let parameters: [ParameterDescription] = [
    ParameterDescription(
      "every", .integer(1...Int.max), default: .integer(1),
      "Only frames whose index is a multiple of this."),
    ParameterDescription(
      "first", .integer(0...Int.max), default: .integer(0), "The first frame, by index."),
    ParameterDescription("last", .integer(0...Int.max), "The last frame, by index, inclusive."),
    ParameterDescription(
      "format", .choice(["png", "jpeg"]), default: .text("png"), "The format of the pictures."),
    ParameterDescription(
      "quality", .integer(1...100), default: .integer(95), "JPEG quality; PNG is lossless."),
    CommonParameters.compression,
    ParameterDescription(
      "conversion", .choice(["ffmpeg", "accurate"]), default: .text("ffmpeg"),
      "ffmpeg: the pixels of the ffmpeg command line. accurate: chroma interpolated fully, rounded "
        + "to nearest."),
    ParameterDescription(
      "matrix", .choice(["auto", "bt601", "bt709", "bt2020"]), default: .text("auto"),
      "Overrides the stream's matrix tag."),
    ParameterDescription(
      "range", .choice(["auto", "limited", "full"]), default: .text("auto"),
      "Overrides the stream's range tag."),
  ]

  public static func content(_ parameters: ParameterValues) -> ArtifactContent { .colorImages }

  public static func reads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> { [.color] }

  /// FFmpeg decides what pictures a video has, and what they look like.
  public static func libraries(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: String] { capture.colorIsVideo == true ? LibraryVersions.ofVideo : [:] }

  public static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    Applicability(capture.state(of: .color))
  }

  public static func problems(_ stage: StageDefinition) -> [StageProblem] {
    guard let first = stage.parameters.integer("first"),
      let last = stage.parameters.integer("last"), first > last
    else { return [] }
    return [
      StageProblem(
        parameter: "first",
        "stage '\(stage.name)' would write nothing: first \(first) is after last \(last)")
    ]
  }

  public static func run(_ context: StageContext) throws -> StageResult {
    guard let color = context.capture.color.value else { return StageResult(frames: 0) }
    switch color.source {
    case .video(let file, let track):
      return try VideoExport(context, color, file: file, track: track).run()
    case .stills(let files):
      return try StillExport(context, color, files: files).run()
    }
  }
}

import Captures
import Codecs
import Geometry
import Parallel
import Pipeline
import Processing
import Storage
import Synchronization

/// Decodes the color video to pictures: every picture once, in presentation order, named by
/// canonical index.
public enum DecodeColor: Stage {
  public static let name = "decode-color"
  public static let version = 5
  public static let sentence =
    "Decodes the color video; every picture once, in presentation order, upright, 8-bit RGB."
  public static let ports: [Port] = []
  public static let parameters: [ParameterDescription] =
    CommonParameters.selection + [
      ParameterDescription(
        "format", .choice(["png", "jpeg"]), default: .text("png"), "The format of the pictures."),
      ParameterDescription(
        "quality", .integer(1...100), default: .integer(ColorWriter.usualQuality),
        "JPEG quality; PNG is lossless."),
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
      ParameterDescription(
        "measure", .flag, default: .flag(false),
        "Also write measures.csv, what the pictures show of their quality, which measure-quality then "
          + "need not find out by decoding them."
      ).omittedAtDefault(),
    ]

  public static func content(_ parameters: ParameterValues) -> ArtifactContent { .colorImages }

  public static func reads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> { [.color] }

  /// FFmpeg determines which pictures a video has, and their pixels.
  public static func libraries(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: String] { capture.colorIsVideo ? LibraryVersions.ofVideo : [:] }

  public static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    Applicability(capture.state(of: .color))
  }

  public static func problems(_ stage: StageDefinition) -> [StageProblem] {
    CommonParameters.selectionProblems(stage)
  }

  public static func run(_ context: StageContext) throws -> StageResult {
    try write(context, CommonParameters.selection(context.parameters))
  }

  /// Writes the pictures of the selected frames with the parameters of this stage in `context`.
  package static func write(
    _ context: StageContext, _ selection: FrameSelection
  ) throws -> StageResult {
    try go(context, selection, visit: nil)
  }

  /// Decodes the pictures of the selected frames without writing any.
  ///
  /// - Parameter visit: called once for each picture that can be decoded, by any thread.
  package static func visit(
    _ context: StageContext, _ selection: FrameSelection, _ visit: @escaping PictureVisitor
  ) throws -> StageResult {
    try go(context, selection, visit: visit)
  }

  private static func go(
    _ context: StageContext, _ selection: FrameSelection, visit: PictureVisitor?
  ) throws -> StageResult {
    guard let color = context.capture.color.value else { return StageResult(frames: 0) }
    let gauge = visit == nil && context.parameters.flag("measure") ? PictureGauge() : nil
    let result =
      switch color.source {
      case .video(let file, let track):
        try VideoExport(
          context, color, file: file, track: track, selection, visit: visit, gauge: gauge
        ).run()
      case .stills(let files):
        try StillExport(context, color, files: files, selection, visit: visit, gauge: gauge).run()
      case .pictures(let pictures):
        try PictureExport(context, color, pictures, selection, visit: visit, gauge: gauge).run()
      }
    try gauge?.write(context.staging)
    return result
  }
}

/// Receives an upright picture: its frame, RGB row by row, columns and rows.
package typealias PictureVisitor =
  @Sendable (_ frame: Int, _ rgb: [UInt8], _ width: Int, _ height: Int) throws -> Void

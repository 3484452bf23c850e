import Captures
import Media
import Core
import Engine
import Processing
import Synchronization
import SystemPackage

/// Decodes the color video to pictures: every picture once, in presentation order, named by
/// canonical index.
public enum DecodeColor: Stage {
  public static let name = "decode-color"
  public static let version = 6
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
        "Also write measures.csv, what the pictures show of their quality as they were recorded, which measure-quality "
          + "then need not find out by decoding them."
      ).omittedAtDefault(),
    ] + PickParameters.own + PictureShapeParameters.own + LightParameters.own

  /// Parameters that decide what values pictures have.
  static let conversions = ["conversion", "matrix", "range", LightParameters.name]

  public static func content(_ parameters: ParameterValues) -> ArtifactContent { .colorImages }

  public static func reads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> {
    var parts: Set<CapturePart> = [.color]
    if parameters.flag("undistort") { parts.formUnion([.intrinsics, .calibration]) }
    if PickParameters.way(parameters) == .motion { parts.formUnion([.frames, .poses, .imu]) }
    return parts
  }

  public static func fileProblems(_ parameters: ParameterValues) -> [StageProblem] {
    CalibrationChoice.fileProblems(
      pathProblems(parameters) + PictureShapeParameters.problems(parameters)
        + PickParameters.problems(parameters) + LightParameters.problems(parameters), parameters,
      for: .color)
  }

  public static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] {
    PictureShapeParameters.file(parameters, deviceID: capture.deviceID)
      .map { [PictureShapeParameters.externalFile: $0] } ?? [:]
  }

  /// FFmpeg determines which pictures a video has, and their pixels; zimg those of converted ones.
  public static func libraries(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: String] {
    guard capture.colorIsVideo else { return [:] }
    return LightParameters.converts(parameters, capture)
      ? LibraryVersions.ofVideo.merging(LibraryVersions.zimg) { first, _ in first }
      : LibraryVersions.ofVideo
  }

  /// HDR is told as long as nothing is chosen.
  public static func settles(_ warning: CaptureWarning, _ parameters: ParameterValues) -> Bool {
    warning.code == .hdrVideo && LightParameters.treatment(parameters) != nil
  }

  public static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    let color = Applicability(capture.state(of: .color))
    if case .applies = color,
      let refusal = LightParameters.refusal(parameters, isVideo: capture.colorIsVideo)
    {
      return .unreadable(refusal)
    }
    guard parameters.flag("undistort") else { return color }
    return CalibrationChoice.checked(color, parameters, capture)
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

  /// Decodes and shapes the pictures of the selected frames without writing any.
  ///
  /// - Parameter visit: called once for each picture that can be decoded, by any thread.
  static func visit(
    _ context: StageContext, _ selection: FrameSelection, _ visit: @escaping PictureVisitor
  ) throws -> StageResult {
    try go(context, selection, visit: visit)
  }

  /// The shape that the pictures will have; `nil` as recorded by the camera.
  package static func published(_ context: StageContext) throws -> PublishedShape? {
    guard let color = context.capture.color.value else { return nil }
    return try ColorShaping(context, color)?.published
  }

  private static func go(
    _ context: StageContext, _ selection: FrameSelection, visit: PictureVisitor?
  ) throws -> StageResult {
    guard let color = context.capture.color.value else { return StageResult(frames: 0) }
    let shaping = try ColorShaping(context, color)
    let light = try light(context, color)
    let gauge = visit == nil && context.parameters.flag("measure") ? PictureGauge() : nil
    let plan = visit == nil ? PickPlan(context, color.countedFrames, selection) : nil
    var result =
      switch color.source {
      case .video(let file, let track):
        try VideoExport(
          context, color, file: file, track: track, selection, shaping, visit: visit, gauge: gauge,
          plan: plan.map {
            try $0.needsScan ? VideoScan($0).plan(context, color, file, track) : $0
          },
          light: light
        ).run()
      case .stills(let files):
        try StillPicking.exporting(
          context, plan, selection,
          files.indices.map { ($0, color.frame(ofPicture: $0)) },
          decode: { StillExport.decode(files[$0]) }
        ) { context, selection in
          try StillExport(
            context, color, files: files, selection, shaping, visit: visit, gauge: gauge
          ).run()
        }
      case .pictures(let pictures):
        try StillPicking.exporting(
          context, plan, selection,
          (0..<pictures.count).map { ($0, color.frame(ofPicture: $0)) },
          decode: {
            let outcome = try pictures.decode($0)
            return (outcome.picture, outcome.issue)
          }
        ) { context, selection in
          try PictureExport(
            context, color, pictures, selection, shaping, visit: visit, gauge: gauge
          ).run()
        }
      }
    try gauge?.write(context.staging)
    if let shaping { result.recorded.merge(shaping.published.recorded) { _, new in new } }
    if let treatment = LightParameters.treatment(context.parameters) {
      let published =
        light?.published
        ?? PublishedLight(unconverted: PublishedLight.reason(color), treatment)
      result.recorded.merge(published.recorded) { _, new in new }
    }
    return result
  }

  /// What converts the pictures; `nil` if they stay as they are.
  private static func light(_ context: StageContext, _ color: ColorStream) throws -> ColorLight? {
    guard case .video(let file, _) = color.source else {
      if let refusal = LightParameters.refusal(context.parameters, isVideo: false) {
        throw StageFailure(refusal, cause: .input)
      }
      return nil
    }
    return try ColorLight(context, color, file: file)
  }
}

/// Receives an upright picture in its published shape: its frame, RGB row by row, columns and rows.
typealias PictureVisitor =
  @Sendable (_ frame: Int, _ rgb: [UInt8], _ width: Int, _ height: Int) throws -> Void

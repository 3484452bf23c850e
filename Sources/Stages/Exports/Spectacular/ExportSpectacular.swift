import Captures
import Media
import Core
import Engine
import Processing

/// Writes a recording that Spectacular AI's SDK replays.
public enum ExportSpectacular: ExportStage {
  public static let name = "export-spectacular"
  public static let version = 2
  public static let sentence =
    "Spectacular AI recording: data.jsonl, the video, calibration.json; needs color with times, gyroscope, "
    + "acceleration."
  public static let ports = [colorPort, TimeOffsetChoice.port]
  public static let parameters: [ParameterDescription] =
    ExportParameters.selection
    + [
      ExportParameters.timeOffset, ExportParameters.convention, CommonCamera.parameter,
      ExportParameters.imuMargin,
    ] + MotionUnits.shared + CalibrationChoice.parameters

  package static let needs: ExportNeeds = [
    .picture, .time, .inertial, .cameraToIMU, .motionUnits,
  ]
  package static let reads: Set<CapturePart> = [.imu, .color]

  /// FFmpeg writes the video.
  public static func libraries(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: String] { LibraryVersions.ofVideo }

  public static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    let found = needs.applicability(name, parameters, capture)
    guard case .applies = found else { return found }
    for part in [CapturePart.poses, .intrinsics] {
      if case .unreadable(let why) = capture.state(of: part) { return .unreadable(why) }
    }
    if capture.exports.isMirrored {
      return .notApplicable(
        "the video's display matrix mirrors its pictures: no camera takes such pictures")
    }
    return CalibrationChoice.checked(.applies, parameters, capture)
  }

  public static func run(_ context: StageContext) throws -> StageResult {
    let source = try source(context)
    let frames = try chooseFrames(source)
    let log = SpectacularLog(source, frames)
    guard !log.gyroscope.isEmpty, !log.accelerometer.isEmpty else {
      throw StageDoesNotApply(
        log.gyroscope.isEmpty ? "no gyroscope sample" : "no acceleration with gravity")
    }
    let folder = ExportFolder(context)
    context.progress.expect(frames.frames.count)
    let video = try SpectacularVideo(source, frames.frames).write()
    try log.write("data.jsonl", context.staging)
    let median = CommonCamera(source, frames.frames)
    try folder.write(try calibration(source, frames, median).text, as: "calibration.json")
    try folder.write(
      try YAMLText.document([("useStereo", .flag(false))]), as: "vio_config.yaml")

    var manifest = ExportManifest(frames: frames)
    manifest.names = frames.frames.indices.map(String.init)
    manifest.imu = (log.sampleCount, log.cropped)
    manifest.intrinsicsDeviation = median?.largestDeviation
    manifest.more["timeShift"] = .integer(log.start?.nanoseconds ?? 0)
    manifest.more["video"] = .string(video)
    var content = ExportContent(source, frames.frames)
    content.hasPictures = true
    content.cameras = median == nil ? .none : .one
    content.poses = log.hasPoses ? .recorded : .none
    content.inertial = ExportContent.Inertial()
    content.inertial?.isSpecificForce = true
    content.cameraToIMU = "imuToCamera of calibration.json"
    return try folder.finish(
      manifest, SpectacularReadme.text(source, log, video, median), content)
  }

  private static func calibration(
    _ source: ExportSource, _ frames: ExportFrames, _ median: CommonCamera?
  ) throws -> SpectacularCalibration {
    var (width, height) = (source.width, source.height)
    if width == nil || height == nil, let first = frames.frames.first {
      let picture = try source.pictures?.color(first)
      (width, height) = (picture?.width, picture?.height)
    }
    let turns = source.context.capture.color.value?.clockwiseQuarterTurns ?? 0
    return SpectacularCalibration(
      camera: median?.camera, lens: median == nil ? nil : source.cameras.distortion,
      width: width ?? 0, height: height ?? 0,
      cameraFromIMU: PhoneAxes.cameraFromIMU(clockwiseQuarterTurns: turns))
  }
}

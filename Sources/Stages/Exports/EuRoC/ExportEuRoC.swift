import Captures
import Core
import Engine
import Processing

/// Writes the layout of the EuRoC MAV data set (ASL format), which most visual-inertial SLAM
/// programs read.
public enum ExportEuRoC: ExportStage {
  public static let name = "export-euroc"
  public static let version = 2
  public static let sentence =
    "EuRoC / ASL folder for visual-inertial SLAM (ORB-SLAM3, OpenVINS): gray pictures, IMU, times.txt, "
    + "ground truth; needs color with times, gyroscope, acceleration."
  public static let ports = [grayPort, colorPort, TimeOffsetChoice.port]
  public static let parameters: [ParameterDescription] =
    ExportParameters.selection + [
      ParameterDescription(
        "picture", .choice(["gray", "color"]), default: .text("gray"),
        "gray: 8-bit gray pictures. color: the pictures of color/, as PNG."),
      ExportParameters.share, CommonParameters.compression, ExportParameters.timeOffset,
      ExportParameters.convention, CommonCamera.parameter, ExportParameters.imuMargin,
    ] + MotionUnits.shared + ExportParameters.noise + CalibrationChoice.parameters

  package static let needs: ExportNeeds = [
    .picture, .time, .inertial, .cameraToIMU, .motionUnits,
  ]
  package static let reads: Set<CapturePart> = [.imu, .cameraSettings]
  package static func pictures(_ parameters: ParameterValues) -> String? {
    parameters.text("picture") == "color" ? "color" : "gray"
  }

  private static func stream(_ context: StageContext) throws -> SixAxisIMU {
    guard let imu = IMUSources.stream(context) else {
      throw StageDoesNotApply("no gyroscope with acceleration")
    }
    return imu
  }

  package static func chooseFrames(_ source: ExportSource) throws -> ExportFrames {
    try ExportFrames(source, needs, inertial: stream(source.context))
  }

  public static func run(_ context: StageContext) throws -> StageResult {
    let capture = context.capture
    if let error = capture.imu.error { throw error }
    if let error = capture.cameraSettings.error { throw error }
    let imu = try stream(context)
    let source = try source(context)
    let frames = try chooseFrames(source)
    let inertial = InertialExport(imu, cropped: IMUCrop(source, frames), context)
    guard let pictures = source.pictures else { throw StageDoesNotApply("no picture is left") }

    let folder = ExportFolder(context)
    let layout = EuRoCLayout(source, frames.frames)
    // Gray pictures are PNG already; color is encoded only if color/ has JPEG.
    let names = try folder.writePictures(pictures, frames.frames, .png) { position, _, _ in
      layout.pictureName(position)
    }
    try layout.writeTimes(context.staging)
    let hasExposures = try layout.writeExposures(context)
    try inertial.write("mav0/imu0/data.csv", columns: EuRoCLayout.imuColumns, context)
    let truths = try layout.writeGroundTruth(context)
    let sensors = EuRoCSensors(source, frames.frames, layout.times, inertial)
    try folder.write(try sensors.body(), as: "mav0/body.yaml")
    try folder.write(try sensors.camera(), as: "mav0/cam0/sensor.yaml")
    try folder.write(try sensors.imu(context.parameters), as: "mav0/imu0/sensor.yaml")

    var manifest = ExportManifest(frames: frames)
    manifest.names = names
    manifest.intrinsicsDeviation = sensors.median?.largestDeviation
    var readme = EuRoCReadme.text(sensors, hasExposures: hasExposures, truths: truths, source)
    inertial.describe(&manifest, &readme, context)
    var content = ExportContent(source, frames.frames)
    content.hasPictures = true
    content.cameras = sensors.median == nil ? .none : .one
    content.poses = truths > 0 ? .recorded : .none
    content.hasVelocities = truths > 0
    content.inertial = inertial.content
    content.cameraToIMU = "T_BS of mav0/cam0/sensor.yaml"
    return try folder.finish(manifest, readme, content)
  }
}

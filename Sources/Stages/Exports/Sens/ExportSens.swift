import Captures
import Media
import Core
import Engine

/// Writes one `.sens` file, version 4: the container of ScanNet and BundleFusion.
public enum ExportSens: ExportStage {
  public static let name = "export-sens"
  public static let version = 2
  public static let sentence =
    ".sens file of ScanNet and BundleFusion: color, depth, poses and IMU in one file; needs color, depth, "
    + "intrinsics."
  public static let ports = [colorPort, jpegPort, depthPort, alignedPort]
  public static let parameters: [ParameterDescription] =
    ExportParameters.selection
    + [
      ParameterDescription(
        "pictures", .choice(["jpeg", "png"]), default: .text("jpeg"),
        "jpeg: what all readers take; files of color/ that are JPEG stay as they are. png: lossless."
      ),
      ParameterDescription(
        "quality", .integer(1...100), default: .integer(PictureForm.usualQuality),
        "Quality of JPEG that is encoded again."),
      ExportParameters.depth, CommonParameters.compression, CommonCamera.parameter,
      ExportParameters.imuMargin,
      ParameterDescription(
        DepthChoice.calibrated, .flag, default: .flag(false),
        "What ScanNet's calibrate makes: undistorted color, and depth aligned to it at its own size. Needs the "
          + "lens coefficients of color; depth.undistortion corrects its distances."
      ).omittedAtDefault(),
    ] + MotionUnits.shared + CalibrationChoice.parameters

  package static let needs: ExportNeeds = [.picture, .depth, .intrinsics, .motionUnits]
  package static let depthRule = DepthChoice.Rule.chosen
  package static let reads: Set<CapturePart> = [.imu]
  package static func pictures(_ parameters: ParameterValues) -> String? {
    parameters.flag(DepthChoice.calibrated) ? "color" : PictureForm(parameters).port
  }

  /// There is a common camera: frames need none of their own.
  package static func chooseFrames(_ source: ExportSource) throws -> ExportFrames {
    try ExportFrames(source, [.picture, .depth])
  }

  public static func run(_ context: StageContext) throws -> StageResult {
    if let error = context.capture.imu.error { throw error }
    let source = try source(context)
    let frames = try chooseFrames(source)
    guard let pictures = source.pictures, let depth = source.depth,
      let nativeSize = source.depthSize
    else { throw StageDoesNotApply("no frame is left") }
    var cameras = try RGBDCameras(source, frames.frames)
    let calibration =
      context.parameters.flag(DepthChoice.calibrated)
      ? try SensCalibration(source, depth, color: cameras.color) : nil
    var depthSize = nativeSize
    if let calibration {
      cameras = RGBDCameras(color: cameras.color, depth: calibration.depthCamera)
      depthSize = (calibration.depthCamera.width, calibration.depthCamera.height)
    }
    let form = PictureForm(context.parameters)
    let camera = cameras.color.camera
    let header = SensHeader(
      sensorName: context.capture.familyDescription.sensorName
        + (calibration == nil ? "" : SensCalibration.nameSuffix), cameras: cameras,
      color: form == .png ? .png : .jpeg,
      colorSize: (source.width ?? camera.width, source.height ?? camera.height),
      depthSize: depthSize, frames: frames.frames.count)
    let imu = SensIMU(MotionUnits.samples(context), IMUCrop(source, frames))
    let work = SensFrames(
      source: source, pictures: pictures, depth: depth, frames: frames.frames, form: form,
      colorSize: header.colorSize, depthSize: depthSize, calibration: calibration)
    let folder = ExportFolder(context)
    let name = OutputName.of(id: context.capture.id) + ".sens"
    try write(name, header.bytes, work, imu, folder)

    var manifest = ExportManifest(frames: frames)
    manifest.names = frames.frames.indices.map(String.init)
    manifest.imu = (imu.frames, imu.leftOut + imu.cropped)
    manifest.intrinsicsDeviation = cameras.color.largestDeviation
    var content = ExportContent(source, frames.frames)
    content.hasPictures = true
    content.depth = calibration == nil ? source.depthChoice : .aligned
    content.cameras = .one
    if case .absent = context.capture.poses {
      content.poses = .identity
    } else {
      content.poses = .recorded
    }
    content.zeroTimes = work.framesWithoutTime
    if imu.frames > 0 {
      content.inertial = ExportContent.Inertial()
      content.inertial?.zeros = imu.zeros
    }
    content.isUndistorted = calibration != nil
    return try folder.finish(
      manifest,
      SensReadme.text(name, source, cameras, imu, form, isCalibrated: calibration != nil), content)
  }

  /// Writes the file in one pass. Usual readers ignore short reads and show zeroed frames, so the
  /// length is compared with the sum of the stated part sizes.
  private static func write(
    _ name: String, _ header: [UInt8], _ frames: SensFrames, _ imu: SensIMU, _ folder: ExportFolder
  ) throws {
    let file = try folder.create(name)
    try file.append(header)
    let frameBytes = try frames.write(to: file)
    var tail: [UInt8] = []
    tail.sens(UInt64(imu.frames))
    try file.append(tail + imu.bytes)
    try file.finish()
    let expected =
      Int64(header.count) + frameBytes + 8 + Int64(SensIMU.frameBytes) * Int64(imu.frames)
    let written = folder.context.staging.outputs.first { $0.path == name }?.bytes
    guard written == expected else {
      throw InternalError(
        "\(name) has \(written ?? 0) bytes, its header and frames state \(expected)")
    }
  }
}

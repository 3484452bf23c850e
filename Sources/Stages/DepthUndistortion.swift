import Captures
import Core
import Engine
import Processing
import SystemPackage

/// Undistorts pictures on the grid of the depth camera: depth and confidence. Each pixel takes the
/// nearest value, so that no value appears that was not measured.
struct DepthUndistortion: Sendable {
  let map: UndistortionMap
  private let camera: PinholeCamera
  private let shape: PictureShape

  static let parameters: [ParameterDescription] =
    [
      ParameterDescription(
        "undistort", .flag, default: .flag(false),
        "Pictures of a pinhole: each pixel takes the nearest of the lens's picture, 0 without source. aligned is "
          + "not affected: it knows the lens."),
      ParameterDescription(
        "alpha", .number(0...1),
        "With undistort, which pinhole: 0 shows only what has a source, 1 all of the source. Not set: the same "
          + "focal length and principal point."),
      ParameterDescription(
        "calibration", .file,
        "With undistort: the calibration whose depth lens is used, in place of that by which color is undistorted, "
          + "else of the capture's own."),
      ParameterDescription(
        "calibrationFolder", .folder,
        "With undistort: a folder of calibrations by device: DEVICE-ID.json, .txt or .yaml."),
    ].map { $0.omittedAtDefault() } + PictureShapeParameters.followedCalibration

  /// `nil` if the pictures are not to be undistorted. Throws if no lens is known.
  init?(_ context: StageContext, width: Int, height: Int) throws {
    guard context.parameters.flag("undistort") else { return nil }
    let capture = context.capture
    let size = PictureSize(width: width, height: height)
    let cameras = try CalibrationChoice.cameras(
      capture, file: context.externalFiles["calibration"], depthSize: size)
    CalibrationChoice.note(cameras.doubts, context)
    if cameras.isCapturesOwn, let problem = capture.calibrationProblem { throw problem }
    let lens = try DepthLens.camera(
      cameras.calibration, size: size, colorSize: cameras.colorSize)
    _ = try ColorShaping.lens(
      lens.distortion, isOfFile: !cameras.isCapturesOwn, of: .depth)
    shape = PictureShape(undistorts: true, alpha: context.parameters.number("alpha"))
    guard let target = shape.fullSizeCamera(from: lens) else {
      throw AlignmentError.noUndistortedCamera(alpha: shape.alpha ?? 0)
    }
    camera = target
    map = UndistortionMap(from: lens, to: target, isNearest: true)
  }

  /// What readers of the pictures need to know.
  var recorded: [String: JSONValue] {
    PublishedShape(shape).recorded.merging(["outputIntrinsics": camera.recorded]) { own, _ in own }
  }
}

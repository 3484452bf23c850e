import Captures
import Core
import Engine
import Processing
import SystemPackage

/// Gives the color pictures of a capture the shape that the parameters of `decode-color`, or of a stage that follows
/// it, ask for.
struct ColorShaping {
  let shape: PictureShape
  /// The lens of all pictures, upright; `nil` without undistortion.
  private let lens: LensDistortion?
  private let cameras: FrameCameras?
  /// The camera of frames that have none of their own.
  private let common: PinholeCamera?
  /// The map of the first frame's camera, which most captures have for all frames.
  private let shared: (camera: LensCamera, map: UndistortionMap)?
  private let isOfFile: Bool

  /// Throws if the pictures are to be undistorted and the capture and its calibration state no lens or
  /// no camera; `nil` if pictures stay as they are.
  ///
  /// Cost: with undistortion one map.
  init?(
    _ context: StageContext, _ color: ColorStream, _ parameters: PictureShapeParameters = .own
  ) throws {
    shape = parameters.shape(context.parameters)
    if shape.isAsRecorded { return nil }
    guard shape.undistorts else {
      (lens, cameras, common, shared, isOfFile) = (nil, nil, nil, nil, false)
      return
    }
    if color.isMirrored {
      throw StageFailure("undistort: \(ColorStream.mirrorReason)", cause: .input)
    }
    let file = context.externalFiles[PictureShapeParameters.externalFile]
    isOfFile = file != nil
    let cameras = try FrameCameras(
      context, file: file, width: color.description.width, height: color.description.height, .color)
    let lens = try Self.lens(cameras.distortion, isOfFile: file != nil)
    let common = cameras.common ?? Self.stated(context.capture, color)
    guard let common else {
      throw StageFailure(
        "undistort: the capture states no intrinsics of its color camera: give color.calibration",
        cause: .input)
    }
    let first = LensCamera(pinhole: cameras[0] ?? common, distortion: lens)
    shared = (first, try PictureShaper.map(first, shape))
    (self.lens, self.cameras, self.common) = (lens, cameras, common)
  }

  /// The lens to remove. A capture without coefficients is refused; a file may say that there is no
  /// distortion.
  static func lens(
    _ stated: LensDistortion?, isOfFile: Bool, of camera: CameraRole = .color
  ) throws(StageFailure) -> LensDistortion {
    if let stated, !stated.isNone { return stated }
    guard isOfFile else {
      throw StageFailure(
        "undistort: the capture states no lens coefficients of its \(camera) camera, so its pictures cannot be "
          + "undistorted: give a calibration, or leave undistort out", cause: .input)
    }
    return .none
  }

  /// The upright camera of the alignment.
  private static func stated(_ capture: Capture, _ color: ColorStream) -> PinholeCamera? {
    guard let camera = capture.alignment?.colorIntrinsics else { return nil }
    let fitted =
      capture.storedColorSize.map { camera.fitted(toWidth: $0.width, height: $0.height) } ?? camera
    return fitted?.turnedClockwise(quarterTurns: color.clockwiseQuarterTurns)
  }

  /// What readers of the pictures need to know.
  var published: PublishedShape {
    guard isOfFile, let common, let lens else { return PublishedShape(shape: shape) }
    return PublishedShape(
      shape: shape,
      camera: shape.camera(from: LensCamera(pinhole: common, distortion: lens))?.pinhole,
      removed: lens)
  }

  /// The shaped upright picture of a frame; see `PictureShaper.shaped`.
  func shaped(
    _ rgb: [UInt8], width: Int, height: Int, frame: Int, _ shaper: inout PictureShaper
  ) throws(AlignmentError) -> (rgb: [UInt8], width: Int, height: Int) {
    try shaper.shaped(
      rgb, width: width, height: height, camera: camera(of: frame), shared: shared)
  }

  /// Shapes a picture of 16 bits.
  func shaped(
    _ rgb: [UInt16], width: Int, height: Int, frame: Int, _ shaper: inout PictureShaper
  ) throws(AlignmentError) -> (rgb: [UInt16], width: Int, height: Int) {
    try shaper.shaped(
      rgb, width: width, height: height, camera: camera(of: frame), shared: shared)
  }

  /// The lens of a frame; `nil` without undistortion.
  private func camera(of frame: Int) -> LensCamera? {
    guard let lens, let pinhole = cameras?[frame] ?? common else { return nil }
    // Making a camera searches the radius limit, which depends on the lens alone.
    return shared.map { $0.camera.with(pinhole) } ?? LensCamera(pinhole: pinhole, distortion: lens)
  }
}

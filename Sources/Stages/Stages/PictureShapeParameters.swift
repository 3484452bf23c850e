import Captures
import Core
import Engine
import Processing
import SystemPackage

/// The parameters that give color pictures a shape: those of the stage that decodes color, and the same
/// ones for stages whose pictures lie on the color grid without reading color.
struct PictureShapeParameters {
  let undistort: Parameter<Bool>
  let alpha: Parameter<Double?>
  private let size: Parameter<PictureSizing?>
  let calibration: Parameter<FilePath?>
  let calibrationFolder: Parameter<FilePath?>

  /// Parameters of the stage that decodes color.
  static let own = PictureShapeParameters(
    undistort: ownUndistort,
    alpha: Parameter(
      "alpha", .number(0...1),
      "With undistort, which pinhole: 0 shows only what has a source, 1 all of the source, between them mixed "
        + "(OpenCV's getOptimalNewCameraMatrix). Not set: the same focal length and principal point."
    ).needing(anyOf: ownUndistort),
    size: Parameter(
      "size", .spelled,
      "Smaller pictures, each pixel the mean of its area: longest side (960), share (50%) or box (640x480). "
        + "Intrinsics, aligned, tables and exports follow."),
    calibration: CalibrationChoice.calibration.saying(
      "With undistort: the calibration whose color lens is used, in place of the capture's own."
    ).needing(anyOf: ownUndistort),
    calibrationFolder: ownCalibrationFolder.needing(anyOf: ownUndistort))

  private static let ownUndistort = Parameter(
    "undistort", .flag, default: false,
    "Pictures of a pinhole: the lens distortion is removed, bilinear; black without source.")
  /// The stage that writes depth passes it to its inner step, too, whatever `undistort` is.
  static let ownCalibrationFolder = CalibrationChoice.calibrationFolder.saying(
    "With undistort: a folder of calibrations by device: DEVICE-ID.json, .txt or .yaml.")

  /// Parameters of stages that follow the stage `color`. `color.size` sets `size` of all of them, and so do the others.
  static let following = PictureShapeParameters(
    undistort: following(own.undistort), alpha: following(own.alpha), size: following(own.size),
    calibration: following(own.calibration),
    calibrationFolder: following(own.calibrationFolder))

  private static func following<Value>(_ own: Parameter<Value>) -> Parameter<Value> {
    own.following("color", ". " + own.description.sentence)
  }

  var all: [ParameterDescription] {
    ParameterDescription.list(undistort, alpha, size, calibration, calibrationFolder)
  }

  /// Parameters of stages whose pictures lie on the grid of color.
  static let followed = ParameterDescription.list(following.alpha, following.size)

  /// Parameters of stages that know the cameras.
  static let followedCalibration = ParameterDescription.list(
    following.undistort, following.calibration, following.calibrationFolder)

  /// The key of the calibration among the external files of a stage that decodes color.
  static let externalFile = "colorCalibration"

  /// The shape that the parameters ask for.
  func shape(_ values: ParameterValues) -> PictureShape {
    PictureShape(undistorts: values[undistort], alpha: values[alpha], sizing: values[size])
  }

  /// The calibration file for undistortion; `nil` for the capture's own values, and without
  /// undistortion.
  func file(_ values: ParameterValues, deviceID: String?) -> FilePath? {
    values[undistort]
      ? CalibrationSource(
        file: values[calibration], folder: values[calibrationFolder], deviceID: deviceID
      ).path : nil
  }

  /// A problem if a following stage has another calibration than that by which color is undistorted:
  /// its pictures or points would belong to another camera.
  static func followingProblems(_ values: ParameterValues) -> [StageProblem] {
    guard values[following.undistort] else { return [] }
    let choices = [
      (own: CalibrationChoice.calibration, color: following.calibration),
      (CalibrationChoice.calibrationFolder, following.calibrationFolder),
    ]
    return choices.compactMap { own, color in
      let chosen = values[own]
      guard chosen != nil, chosen != values[color] else { return nil }
      return StageProblem(
        parameter: own.name,
        "color is undistorted with another calibration; give the same as color.\(own.name), which then holds for both"
      )
    }
  }
}

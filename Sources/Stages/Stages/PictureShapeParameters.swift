import Captures
import Core
import Engine
import Processing
import SystemPackage

/// The parameters that give color pictures a shape: those of the stage that decodes color, and the same
/// ones for stages whose pictures lie on the color grid without reading color.
package enum PictureShapeParameters {
  /// Parameters of the stage that decodes color.
  package static let own: [ParameterDescription] = [
    ParameterDescription(
      "undistort", .flag, default: .flag(false),
      "Pictures of a pinhole: the lens distortion is removed, bilinear; black without source."),
    ParameterDescription(
      "alpha", .number(0...1),
      "With undistort, which pinhole: 0 shows only what has a source, 1 all of the source, between them mixed "
        + "(OpenCV's getOptimalNewCameraMatrix). Not set: the same focal length and principal point."
    ),
    ParameterDescription(
      "size", .pictureSize,
      "Smaller pictures, each pixel the mean of its area: longest side (960), share (50%) or box (640x480). "
        + "Intrinsics, aligned, tables and exports follow."),
    ParameterDescription(
      "calibration", .file,
      "With undistort: the calibration whose color lens is used, in place of the capture's own."),
    ParameterDescription(
      "calibrationFolder", .folder,
      "With undistort: a folder of calibrations by device: DEVICE-ID.json, .txt or .yaml."),
  ]

  /// Parameters of stages whose pictures lie on the grid of the stage `color`: set by `color.size` and so on, for all
  /// that have them.
  static let followed = following(["alpha", "size"])

  /// Parameters of stages that know the cameras: set by `color.calibration` and so on, for all that have them.
  static let followedCalibration = following(["undistort", "calibration", "calibrationFolder"])

  private static func following(_ names: [String]) -> [ParameterDescription] {
    own.filter { names.contains($0.name) }.map { description in
      var followed = description
      followed.name = followedName(description.name)
      followed.sentence = "Set by color.\(description.name). \(description.sentence)"
      return followed.shared(as: "color", description.name)
    }
  }

  /// `colorSize` of `size`.
  private static func followedName(_ name: String) -> String {
    "color" + name.prefix(1).uppercased() + name.dropFirst()
  }

  /// The key of the calibration among the external files of a stage that decodes color.
  static let externalFile = "colorCalibration"

  /// The values of a following stage under the names of the stage that decodes color.
  static func values(ofFollowing values: ParameterValues) -> ParameterValues {
    var own = ParameterValues(defaultsOf: Self.own)
    for description in Self.own {
      own[description.name] = values[followedName(description.name)]
    }
    return own
  }

  /// The shape that the parameters of the stage that decodes color ask for.
  static func shape(_ values: ParameterValues) -> PictureShape {
    PictureShape(
      undistorts: values.flag("undistort"), alpha: values.number("alpha"),
      sizing: values.text("size").flatMap(PictureSizing.init))
  }

  /// The calibration file for undistortion; `nil` for the capture's own values, and without
  /// undistortion.
  static func file(_ values: ParameterValues, deviceID: String?) -> FilePath? {
    values.flag("undistort") ? CalibrationChoice.file(values, deviceID: deviceID) : nil
  }

  /// Problems of parameters that belong to undistortion.
  ///
  /// They are found once all parameters are set, so that the order of settings does not matter.
  static func problems(_ values: ParameterValues) -> [StageProblem] {
    guard !values.flag("undistort") else { return [] }
    let names = ["alpha", "calibration", "calibrationFolder"]
    return names.filter { values[$0] != nil }.map { name in
      StageProblem(parameter: name, "has no effect without undistort=true")
    }
  }

  /// The parameter of a following stage that names the calibration file of color; `nil` without
  /// undistortion.
  static func followedFile(_ values: ParameterValues) -> String? {
    Self.values(ofFollowing: values).flag("undistort") ? followedName("calibration") : nil
  }

  /// A problem if a following stage has another calibration than that by which color is undistorted:
  /// its pictures or points would belong to another camera.
  static func followingProblems(_ values: ParameterValues) -> [StageProblem] {
    let color = Self.values(ofFollowing: values)
    guard color.flag("undistort") else { return [] }
    let names = ["calibration", "calibrationFolder"]
    return names.filter { values[$0] != nil && values[$0] != color[$0] }.map { name in
      StageProblem(
        parameter: name,
        "color is undistorted with another calibration; give the same as color.\(name), which then holds for both"
      )
    }
  }
}

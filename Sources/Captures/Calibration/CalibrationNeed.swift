import Core

/// Which parts a calibration file must have for its use. A missing part is an error, never a
/// default.
public enum CalibrationNeed: Sendable {
  /// Both cameras and the transform between them: for everything that relates depth to color.
  case depthAndColor
  /// The color camera alone: for exports without depth on its own grid.
  case color
}

extension CalibrationFile {
  /// Throws for the first missing part. The message uses the key of the file's format and says what
  /// to add.
  ///
  /// If depth and color share one camera (`registered`), that of color suffices.
  static func checkWhole(
    _ calibration: DepthCalibration, _ format: Format, for need: CalibrationNeed
  ) throws(CalibrationProblem) {
    if calibration.colorIntrinsics == nil { throw missing(.color, format) }
    guard need == .depthAndColor, !calibration.registered else { return }
    if calibration.depthIntrinsics == nil { throw missing(.depth, format) }
    if calibration.colorFromDepth == nil { throw missing(.extrinsics, format) }
  }

  private enum Part {
    case color, depth, extrinsics
  }

  private static func missing(_ part: Part, _ format: Format) -> CalibrationProblem {
    let orShared = #"; or "registered": true if depth and color share one camera"#
    let camera = #"add {"width", "height", "fx", "fy", "cx", "cy"}, in pixels, of the "#
    switch (format, part) {
    case (.json, .color):
      return CalibrationProblem("is missing: \(camera)color camera", key: "colorIntrinsics")
    case (.json, .depth):
      return CalibrationProblem(
        "is missing: \(camera)depth camera\(orShared)", key: "depthIntrinsics")
    case (.json, .extrinsics):
      return CalibrationProblem(
        "is missing: add the 4×4 matrix, row by row, that maps points of the depth camera to those of "
          + "the color camera, in meters\(orShared)", key: "colorFromDepth")
    case (_, .color):
      return CalibrationProblem(
        "is missing, as is all of the color camera: add fx_color, fy_color, mx_color and my_color, in "
          + "pixels", key: "fx_color")
    case (_, .depth):
      return CalibrationProblem(
        "is missing, as is all of the depth camera: add fx_depth, fy_depth, mx_depth and my_depth, in "
          + "pixels", key: "fx_depth")
    case (_, .extrinsics):
      return CalibrationProblem(
        "is missing: add the 4×4 matrix, row by row, that maps points of the depth camera to those of "
          + "the color camera, in meters; or its inverse as colorToDepthExtrinsics",
        key: "depthToColorExtrinsics")
    }
  }
}

import Captures
import Pipeline

/// What the README of every export says of the capture itself.
package enum ExportRemarks {
  /// - Parameter pictures: whether the export has pictures.
  package static func all(_ source: ExportSource, pictures: Bool = true) -> [String] {
    var remarks: [String] = []
    let warnings = source.context.capture.warnings
    for warning in warnings where warning.code == .pairingApproximate {
      remarks.append("Depth and color are paired approximately: \(warning.message)")
    }
    for warning in warnings where warning.code == .poseJump {
      remarks.append(
        "The poses jump: \(warning.message). Frames on both sides are here as recorded.")
    }
    if pictures, source.cameras.distortion != nil {
      remarks.append(
        "The pictures are not undistorted; the lens coefficients are written where the format has a place "
          + "for them.")
    }
    return remarks
  }
}

import Captures
import Engine

/// Makes the remarks about the capture that the README of every export contains.
enum ExportRemarks {
  /// - Parameter content: only remarks about what the export contains are made.
  static func all(_ content: ExportContent) -> [String] {
    var remarks: [String] = []
    if content.poses == .recorded {
      for warning in content.capture.warnings where warning.code == .poseJump {
        remarks.append(
          "The poses jump: \(warning.message). Frames on both sides are here as recorded.")
      }
    }
    if content.hasPictures, content.cameras != .none, !content.isUndistorted,
      content.source?.cameras.distortion != nil
    {
      remarks.append(
        "The pictures are not undistorted; the lens coefficients are written where the format has a place "
          + "for them.")
    }
    if content.hasPictures, content.source?.cameras.isUndistorted == true {
      remarks.append(
        "The pictures are undistorted: those of a pinhole camera, black where the lens shows nothing."
      )
    }
    if content.source?.isDepthDistorted == true, !content.isUndistorted {
      remarks.append(
        "The depth pictures are not undistorted either, and their lens is not written; with --set "
          + "depth.undistort=true they are those of a pinhole.")
    }
    return remarks
  }
}

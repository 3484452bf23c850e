import Captures
import Core
import Engine

/// `README.txt` beside a `.sens` file.
enum SensReadme {
  static func text(
    _ name: String, _ source: ExportSource, _ cameras: RGBDCameras, _ imu: SensIMU,
    _ form: PictureForm, isCalibrated: Bool
  ) -> ExportReadme {
    var readme = ExportReadme("RGB-D sequence in ScanNet's .sens container, version 4")
    readme.contents = [
      "\(name) holds the frames that have color and depth, numbered from 0; frames.csv maps their numbers to "
        + "the canonical frames of the capture. Color is \(form == .png ? "PNG" : "JPEG"), depth is a zlib "
        + "stream of 16-bit little-endian millimeters along the optical axis, 0 = none.",
      form == .png
        ? "Some readers take no PNG: export with pictures=jpeg for them." : "",
    ].filter { !$0.isEmpty }
    readme.opening = [
      ("SensorData('\(name)')", "In Python with SensorData.py of ScanNet's SensReader"),
      ("sens \(name) OUTPUT-FOLDER", "With ScanNet's C++ reader, which unpacks it into files"),
    ]
    readme.conventions =
      (isCalibrated ? SensCalibration.conventions : cameras.conventions(source)) + [
        poses(source),
        source.context.capture.frames.contains { $0.pictureTime != nil }
          ? "Times are microseconds on the capture's clock, rounded down; 0 = unknown."
          : "No time is known: all are 0.",
        source.hasPoses
          ? "Numbers of the header and of the poses are 32-bit floats."
          : "Numbers of the header are 32-bit floats.",
      ]
    readme.remarks = cameras.remarks + self.imu(source, imu)
    if let remark = IMUCrop.remark(imu.cropped, source.context.parameters) {
      readme.remarks.append(remark)
    }
    return readme
  }

  private static func poses(_ source: ExportSource) -> String {
    if case .absent = source.context.capture.poses {
      return "Every pose is the identity, which readers take as not computed yet."
    }
    return
      "Poses: camera to world, meters, \(source.worldWords). A frame whose tracking was lost holds -inf in all sixteen numbers."
  }

  private static func imu(_ source: ExportSource, _ imu: SensIMU) -> [String] {
    guard imu.frames > 0 else {
      return imu.leftOut == 1
        ? ["One IMU sample was recorded and is left out: usual readers cannot read a single one."]
        : ["The file holds no IMU samples."]
    }
    return [
      "\(imu.frames) IMU samples at the times of the rotation rate: rad/s, acceleration without gravity and "
        + "gravity in g, magnetic field in µT, attitude in rad (roll, pitch, yaw), with the signs that were "
        + "recorded."
    ]
  }
}

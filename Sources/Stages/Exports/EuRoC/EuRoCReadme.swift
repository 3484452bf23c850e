import Captures
import Core
import Engine

/// The README of `export-euroc`.
enum EuRoCReadme {
  static func text(
    _ sensors: EuRoCSensors, hasExposures: Bool, truths: Int, _ source: ExportSource
  ) -> ExportReadme {
    var readme = ExportReadme("Visual-inertial sequence in the layout of EuRoC (ASL)")
    readme.contents = [
      "mav0/cam0/data/ holds the pictures, named by their time in nanoseconds; mav0/cam0/data.csv and "
        + "times.txt list them. mav0/imu0/data.csv holds gyroscope (rad/s), then specific force (m/s²)."
    ]
    if hasExposures {
      readme.contents.append("mav0/cam0/exposure.csv holds exposure times in nanoseconds.")
    }
    readme.opening = [
      (
        "mono_inertial_euroc VOC CAMERA.yaml export-euroc export-euroc/times.txt",
        "ORB-SLAM3; CAMERA.yaml is written by hand from mav0/cam0/sensor.yaml"
      )
    ]
    readme.conventions = [
      "The body is the IMU: x right, y up along the screen, z out of the screen. At rest, face up, specific "
        + "force is (0, 0, +9.8).",
      "T_BS maps sensor to body (p_imu = T_BS · p_cam). Kalibr's T_cam_imu and Spectacular AI's "
        + "imuToCamera are its inverse.",
      "Camera axes: x right, y down, z forward; pixel centers at integers.",
      "Times are nanoseconds on the capture's own clock, the same for pictures and IMU. Every picture lies "
        + "between the first and the last IMU sample, with a sample since the picture before.",
    ]
    if let median = sensors.median {
      readme.conventions.append(
        "intrinsics is \(median.words); the largest deviation of any frame is "
          + "\(ExportReadme.rounded(median.largestDeviation)) pixels.")
    } else {
      readme.remarks.append(
        "The capture has no intrinsics: mav0/cam0/sensor.yaml has none, calibrate the camera first "
          + "(parameter calibration).")
    }
    if truths > 0 {
      readme.opening.append(
        ("evo_traj euroc mav0/state_groundtruth_estimate0/data.csv", "The app's own trajectory"))
      readme.conventions.append(
        "mav0/state_groundtruth_estimate0/data.csv: pose of the body (IMU) in \(source.worldWords), "
          + "quaternion w x y z; \(truths) rows.")
    } else {
      readme.remarks.append("No exported frame has a pose: there is no ground truth.")
    }
    if sensors.hasFurtherDistortion {
      readme.remarks.append(
        "The lens has coefficients beyond k1, k2, p1, p2, which this format has no place for; they are left "
          + "out.")
    }
    return readme
  }
}

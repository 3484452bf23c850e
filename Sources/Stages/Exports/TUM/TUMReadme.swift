import Captures
import Core
import Engine

/// The README of `export-tum`.
enum TUMReadme {
  static func start() -> ExportReadme {
    var readme = ExportReadme("Sequence in the layout of the TUM RGB-D benchmark")
    readme.contents = ["rgb/ holds the color pictures, named by their time; rgb.txt lists them."]
    readme.conventions = [
      "Times are seconds with 9 decimals on the capture's own clock. Camera axes: x right, y down, z "
        + "forward; pixel centers at integers."
    ]
    return readme
  }

  static func describe(_ depth: TUMDepth, _ source: ExportSource, _ readme: inout ExportReadme) {
    if depth.hasPictures {
      readme.contents.append(
        "depth/ lies on the color grid: 16-bit PNG, 5000 per meter along the optical axis, 0 = none or above "
          + "13.107 m. Pictures are named by their own time; associations.txt pairs them with color by frame, "
          + "\(depth.rows.count) pairs.")
      readme.opening.append(
        (
          "rgbd_tum VOC CAMERA.yaml export-tum export-tum/associations.txt",
          "ORB-SLAM3; CAMERA.yaml is written by hand from camera.yaml"
        ))
    } else {
      readme.opening.append(("mono_tum VOC CAMERA.yaml export-tum", "ORB-SLAM3, color only"))
      readme.remarks.append(reason(source))
    }
    if depth.sameNames > 0 {
      readme.remarks.append(
        "\(depth.sameNames) depth pictures have the time of one before them, which their name would "
          + "overwrite; they and their pairs are left out (depthLeftOut in export.json).")
    }
  }

  static let mirrored =
    "The video's display matrix mirrors its pictures: poses, intrinsics and depth do not belong to such pictures "
    + "and are not here."

  /// Why there is no depth.
  private static func reason(_ source: ExportSource) -> String {
    let summary = CaptureSummary(source.context.capture, readerVersion: 0)
    if case .absent(let why) = summary.state(of: .depth) { return "There is no depth: \(why)." }
    if source.depth != nil { return "There is no depth: no exported frame has a depth picture." }
    let missing = summary.missingCalibration.joined(separator: ", no ")
    return missing.isEmpty
      ? "There is no depth: none on the color grid was made."
      : "There is no depth on the color grid: the calibration is incomplete: no \(missing); give "
        + "export-tum.calibration and the same to the stage that aligns."
  }

  static func describe(poses: Int, _ source: ExportSource, _ readme: inout ExportReadme) {
    guard poses > 0 else {
      readme.remarks.append("No exported frame has a pose: there is no groundtruth.txt.")
      return
    }
    readme.opening.append(("evo_traj tum groundtruth.txt", "The app's own trajectory"))
    readme.conventions.append(
      "groundtruth.txt: camera to world, meters, \(source.worldWords), quaternion x y z w; \(poses) rows."
    )
  }

  static func describe(_ median: CommonCamera, _ readme: inout ExportReadme) {
    readme.conventions.append(
      "camera.yaml is \(median.words); the largest deviation of any frame is "
        + "\(ExportReadme.rounded(median.largestDeviation)) pixels. The layout itself has no place for it."
    )
  }
}

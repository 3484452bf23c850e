import Captures
import Media
import Core
import Engine

/// Writes the folder that ScanNet's own extractor makes from a `.sens` file, which many loaders
/// read.
enum ExportScanNet: ExportStage {
  static let name = "export-scannet"
  static let version = 2
  static let sentence =
    "ScanNet folder: color/0.jpg, depth/0.png, pose/0.txt, intrinsic/; needs color, depth, intrinsics."
  static let ports = [colorPort, jpegPort, depthPort, alignedPort]
  static let parameters =
    ExportParameters.selection + ExportParameters.pictures(default: .jpeg)
    + ParameterDescription.list(
      ExportParameters.depth, untracked, ExportParameters.share, ExportParameters.compression,
      CommonCamera.parameter) + CalibrationChoice.parameters

  private enum Untracked: String, CaseIterable {
    case drop, keep
  }

  private static let untracked = Parameter(
    "untracked", .choice(), default: Untracked.drop,
    "Frames without a pose in a capture that has poses. drop: left out. keep: sixteen -inf, as ScanNet "
      + "writes them; most SLAM loaders do not skip those.")

  static let needs: ExportNeeds = [.picture, .depth, .intrinsics]
  static let depthRule = DepthChoice.Rule.chosen

  /// There is a common camera: frames need none of their own.
  static func chooseFrames(_ source: ExportSource) throws -> ExportFrames {
    var needs: ExportNeeds = [.picture, .depth]
    if source.hasPoses, source.context.parameters[untracked] == .drop { needs.insert(.pose) }
    return try ExportFrames(source, needs)
  }

  static func write(
    _ frames: [Int], of source: ExportSource, to folder: ExportFolder,
    _ content: inout ExportContent
  ) throws -> ExportReadme {
    guard let pictures = source.pictures, let depth = source.depth else {
      throw StageDoesNotApply("no frame is left")
    }
    let cameras = try RGBDCameras(source, frames)
    content.names = try folder.writePictures(pictures, frames, of: source) {
      position, _, ending in "color/\(position).\(ending)"
    }
    try folder.sharePictures(depth, frames) { position, _, ending in
      "depth/\(position).\(ending)"
    }
    if source.hasPoses { try writePoses(frames, source, folder) }
    try writeCameras(cameras, folder)
    content.cameras = .one(cameras.color)
    content.poses = source.hasPoses ? .recorded : .none
    return readme(source, cameras)
  }

  private static func writePoses(
    _ frames: [Int], _ source: ExportSource, _ folder: ExportFolder
  ) throws {
    let lost = Array(repeating: "-inf -inf -inf -inf\n", count: 4).joined()
    for (position, frame) in frames.enumerated() {
      try source.context.cancellation.check()
      let text = source.pose(frame).map { $0.worldFromCamera.rowMajor.matrixText } ?? lost
      try folder.write(text, as: "pose/\(position).txt")
    }
  }

  private static func writeCameras(_ cameras: RGBDCameras, _ folder: ExportFolder) throws {
    let identity = RigidTransform.identity.rowMajor
    for (name, matrix) in [
      ("intrinsic_color", cameras.color.camera.rowMajor4x4),
      ("intrinsic_depth", cameras.depth.rowMajor4x4),
      ("extrinsic_color", identity),
      ("extrinsic_depth", cameras.colorFromDepth.rowMajor),
    ] {
      try folder.write(matrix.matrixText, as: "intrinsic/\(name).txt")
    }
  }

  private static func readme(
    _ source: ExportSource, _ cameras: RGBDCameras
  ) -> ExportReadme {
    ExportReadme("RGB-D sequence in ScanNet's folder layout") {
      (source.hasPoses ? "color/, depth/ and pose/" : "color/ and depth/")
        + " hold the same numbers, from 0 without holes and without leading zeros; frames.csv maps them to "
        + "the canonical frames of the capture. depth/ is 16-bit PNG, millimeters along the optical axis, 0 = none. "
        + "intrinsic/ holds 4x4 matrices."
    } opening: {
      ("ns-train nerfacto scannet-data --data export-scannet", "With nerfstudio")
    } conventions: {
      for convention in cameras.conventions(source) { convention }
      "Sort the numbers as numbers: as text, 10 comes before 2."
      if source.hasPoses {
        "pose/: camera to world, 4 lines of 4 numbers, meters, \(source.worldWords)."
        if source.context.parameters[untracked] == .keep {
          "A frame whose tracking was lost has sixteen -inf, as in ScanNet; most SLAM loaders do not skip it."
        } else {
          "Frames without pose are left out."
        }
      }
    } remarks: {
      if !source.hasPoses { "The capture has no poses: there is no pose/." }
      for remark in cameras.remarks { remark }
    }
  }
}

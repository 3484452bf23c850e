import Captures
import Media
import Core
import Engine

/// Writes a folder for Open3D's reconstruction system and other readers of Redwood's layout.
enum ExportOpen3D: ExportStage {
  static let name = "export-open3d"
  static let version = 2
  static let sentence =
    "Open3D / Redwood folder: color, depth on the color grid, intrinsic.json, trajectory.log; needs color, "
    + "depth, intrinsics."
  static let ports = [colorPort, jpegPort, alignedPort, maskPort]
  static let parameters =
    ExportParameters.selection + ExportParameters.pictures(default: .same)
    + ParameterDescription.list(
      ExportParameters.share, ExportParameters.compression.orWith(ExportParameters.masks),
      CommonCamera.parameter, ExportParameters.masks)
    + CalibrationChoice.parameters

  static let needs: ExportNeeds = [.picture, .depth, .intrinsics]
  static let depthRule = DepthChoice.Rule.aligned

  static func chooseFrames(_ source: ExportSource) throws -> ExportFrames {
    try ExportFrames(source, source.hasPoses ? needs.union([.pose]) : needs)
  }

  static func write(
    _ frames: [Int], of source: ExportSource, to folder: ExportFolder,
    _ content: inout ExportContent
  ) throws -> ExportReadme {
    guard let pictures = source.pictures, let depth = source.depth,
      let camera = CommonCamera(source, frames)
    else { throw StageDoesNotApply("no frame is left") }
    content.names = try folder.writePictures(pictures, frames, of: source, as: "color/")
    if let masks = source.masks {
      try writeDepth(depth, where: masks, frames, folder)
    } else {
      try folder.sharePictures(depth, frames, as: "depth/")
    }
    try folder.write(intrinsics(camera.camera), as: "intrinsic.json")
    if source.hasPoses { try writeTrajectory(frames, source, folder) }
    content.cameras = .one(camera)
    content.poses = source.hasPoses ? .recorded : .none
    return readme(source, camera)
  }

  /// Writes depth without that of pixels whose mask is 0: readers of this layout know no masks.
  private static func writeDepth(
    _ depth: ExportPictures, where masks: ExportPictures, _ frames: [Int], _ folder: ExportFolder
  ) throws {
    let compression = folder.context.parameters[CommonParameters.compression]
    try folder.context.each(frames) { (frame: Int, writer: inout PNGWriter) in
      var picture = try depth.depth(frame)
      if masks.has(frame) {
        let mask = try masks.gray(frame)
        guard (mask.width, mask.height) == (picture.width, picture.height) else {
          throw StageFailure(
            "frame \(frame): the mask has \(mask.width)x\(mask.height) pixels, depth "
              + "\(picture.width)x\(picture.height): run '\(masks.stage)' again")
        }
        for pixel in mask.values.indices where mask.values[pixel] == 0 {
          picture.millimeters[pixel] = 0
        }
      }
      try folder.write(writer.encode(picture), as: "depth/" + FrameFileName.name(frame))
    } makeScratch: {
      PNGWriter(compression: compression)
    }
  }

  /// Column-major, as `PinholeCameraIntrinsic` reads it.
  private static func intrinsics(_ camera: PinholeCamera) -> [UInt8] {
    var json = JSONStream()
    json.beginObject(lines: true)
    json.member("width", camera.width)
    json.member("height", camera.height)
    json.member("intrinsic_matrix", camera.columnMajor3x3)
    json.end()
    json.endLine()
    return json.drain { $0 }
  }

  /// Writes for each frame the line `k k k+1` and the camera-to-world matrix by rows.
  private static func writeTrajectory(
    _ frames: [Int], _ source: ExportSource, _ folder: ExportFolder
  ) throws {
    let file = try folder.create("trajectory.log")
    for (position, frame) in frames.enumerated() {
      guard let pose = source.pose(frame) else { continue }
      let text =
        "\(position) \(position) \(position + 1)\n" + pose.worldFromCamera.rowMajor.matrixText
      try file.append(Array(text.utf8))
    }
    try file.finish()
  }

  private static func readme(_ source: ExportSource, _ camera: CommonCamera) -> ExportReadme {
    ExportReadme("RGB-D sequence for Open3D") {
      "color/ and depth/ hold the same stems: the canonical frame numbers of the capture. depth/ lies on the "
        + "color grid: 16-bit PNG, millimeters along the optical axis, 0 = none (depth_scale 1000)."
    } opening: {
      (
        "o3d.io.read_pinhole_camera_intrinsic('intrinsic.json')",
        "The camera, one for all frames, in Python"
      )
      if source.hasPoses {
        (
          "o3d.io.read_pinhole_camera_trajectory('trajectory.log')",
          "The poses; Open3D inverts them into extrinsics automatically"
        )
      }
    } conventions: {
      "Camera axes: x right, y down, z forward; pixel centers at integers."
      "intrinsic_matrix is column-major. It is \(camera.sentence)"
      if source.masks != nil { "depth is 0 also where the masks of the capture are 0." }
      if source.hasPoses {
        "trajectory.log: camera to world, meters, \(source.worldWords). Frames without pose are left out."
      }
    } remarks: {
      if !source.hasPoses { "The capture has no poses: there is no trajectory.log." }
    }
  }
}

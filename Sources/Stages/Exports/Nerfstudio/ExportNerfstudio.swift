import Captures
import Core
import Engine
import Media

/// Writes a folder for nerfstudio, instant-ngp and related programs: `transforms.json`, pictures,
/// depth, start points.
enum ExportNerfstudio: ExportStage {
  static let name = "export-nerfstudio"
  static let version = 3
  static let sentence =
    "nerfstudio folder: transforms.json, pictures, depth and start points; needs color, poses, intrinsics."
  static let ports = [colorPort, jpegPort, alignedPort, maskPort]
  static let parameters =
    ExportParameters.selection
    + ExportParameters.pictures(default: .same, jpegAlsoWith: PicturePyramid.parameter)
    + ParameterDescription.list(
      depth, up, ngp, ExportParameters.points.needing(depth, .auto), ExportParameters.share,
      ExportParameters.compression.orWith(PicturePyramid.parameter),
      CommonCamera.parameterPerFrame, SceneFile.parameter,
      ExportParameters.masks, PicturePyramid.parameter) + ExportSplit.parameters
    + CalibrationChoice.parameters

  private static let depth = Parameter(
    "depth", .choice([.auto, .none]), default: DepthChoice.Wish.auto,
    "auto: where the capture has depth, frames without it are left out, because the reader wants it for every "
      + "frame or for none. none: all frames, without depth and start points.")
  static let up = Parameter(
    "up", .choice(), default: WorldUp.z,
    "app: the app's world (y up on phones). z: turned so that z is up.")
  static let ngp = Parameter(
    "ngp", .flag, default: false, "Also the keys of instant-ngp, its depth among them.")

  static let needs: ExportNeeds = [.picture, .pose, .intrinsics]
  static let takesWidePictures = true
  static let depthRule = DepthChoice.Rule.aligned

  static func chooseFrames(_ source: ExportSource) throws -> ExportFrames {
    try ExportFrames(source, source.hasAnyDepth ? needs.union([.depth]) : needs)
  }

  static func write(
    _ frames: [Int], of source: ExportSource, to folder: ExportFolder,
    _ content: inout ExportContent
  ) throws -> ExportReadme {
    let context = source.context
    try checkLens(source.cameras.distortion)
    let depth = source.depth.flatMap { $0.isEmpty ? nil : $0 }
    let (cameras, common) = source.cameras(of: frames)
    guard let pictures = source.pictures, let first = cameras.first else {
      throw StageDoesNotApply("no frame is left")
    }
    let names = try folder.writePictures(pictures, frames, of: source, as: "images/frame_")
    let depths = try depth.map { depth in
      try folder.sharePictures(depth, frames, as: "depths/frame_")
    }
    let masks = try source.masks.map { masks in
      try folder.sharePictures(masks, frames, as: "masks/frame_")
    }
    try PicturePyramid.write(
      frames, pictures: pictures, names: names,
      masks: source.masks.flatMap { pictures in masks.map { (pictures, $0) } },
      depth: depth.flatMap { pictures in depths.map { (pictures, $0) } }, folder)
    let up = RigidTransform.worldFromApp(
      context.parameters[Self.up], of: source.world)
    let points = try StartPoints(
      source, frames, limit: context.parameters[ExportParameters.points], worldFromApp: up)
    if points.count > 0 {
      try points.writePLY(
        pointsName, comment: "meters, the world of transforms.json: applied_transform is in it",
        folder)
    }

    try SceneFile.write(source, frames, points, worldFromApp: up, folder)

    let split = try ExportSplit(context, frames)
    var head = TransformsHeader(
      width: source.width ?? first.width, height: source.height ?? first.height,
      camera: cameras.allSatisfy { $0 == first } ? first : nil, lens: source.cameras.distortion,
      worldFromApp: up, keepsUp: source.world != .firstCamera,
      points: points.count > 0 ? pointsName : nil,
      isForNGP: context.parameters[ngp], hasDepth: depth != nil)
    head.parts =
      split.map { split in
        ["train", "val", "test"].map { part in
          ("\(part)", split.positions(part).map { names[$0] })
        }
      } ?? []
    var transforms = try TransformsFile(head, folder)
    for (position, frame) in frames.enumerated() {
      guard let pose = source.pose(frame) else { continue }
      try transforms.append(
        picture: names[position], depth: depths?[position], mask: masks?[position],
        cameras[position], pose)
    }
    try transforms.finish()
    content.names = names
    content.more["points"] = .integer(Int64(points.count))
    content.more["split"] = split?.json
    content.depth = depth == nil ? .none : source.depthChoice
    content.cameras = common.map { .one($0) } ?? .each
    content.poses = .recorded
    content.turnsWorld = !up.isIdentity
    return readme(source, head, points, common, split)
  }

  private static let pointsName = "sparse_pc.ply"

  /// nerfstudio's k4 is another term than OpenCV's rational one.
  private static func checkLens(_ lens: LensDistortion?) throws {
    guard let lens, lens.k4 != 0 || lens.k5 != 0 || lens.k6 != 0 else { return }
    throw StageDoesNotApply(
      "the lens has rational coefficients (k4, k5, k6), for which transforms.json has no place: use "
        + "export-colmap and colmap image_undistorter")
  }
}

extension ExportNerfstudio {
  static func readme(
    _ source: ExportSource, _ head: TransformsHeader, _ points: StartPoints,
    _ common: CommonCamera?, _ split: ExportSplit?
  ) -> ExportReadme {
    ExportReadme("Scene for nerfstudio") {
      "transforms.json names the pictures in images/"
        + (head.hasDepth ? " and the depth in depths/" : "")
        + ", which have the canonical frame numbers of the capture."
    } opening: {
      ("ns-train splatfacto --data export-nerfstudio", "Gaussian splats")
      ("ns-train nerfacto --data export-nerfstudio", "A radiance field")
      if head.hasDepth {
        ("ns-train depth-nerfacto --data export-nerfstudio", "A radiance field that follows depth")
      }
      if head.isForNGP { ("instant-ngp export-nerfstudio", "instant-ngp") }
    } conventions: {
      if head.hasDepth {
        "depths/: 16-bit PNG on the grid of the pictures, millimeters along the optical axis, 0 = none. Every "
          + "frame has depth: the reader refuses scenes in which only some have it."
      }
      "transform_matrix: camera to world, 4x4 by rows, meters; camera axes x right, y up, z toward the viewer "
        + "(OpenGL)."
      worldSentence(head, source.world)
      "cx, cy count from the corner of the corner pixel: half a pixel more than in our tables."
      if head.camera == nil {
        "Intrinsics change from frame to frame and stand in every frame."
      } else if let common {
        "One camera stands for all frames: \(common.sentence) It stands at the top."
      } else {
        "All frames have the same intrinsics; they stand at the top."
      }
      if points.count > 0 {
        "sparse_pc.ply: \(points.count) points of the depth of every \(StartPoints.frameStep)th exported "
          + "frame, every \(StartPoints.pixelStep)th row and column, evenly thinned, in the world of "
          + "transforms.json."
      }
      if source.masks != nil { "masks/ (mask_path): 255 is used, 0 is not." }
    } remarks: {
      if !head.hasDepth { "There is no depth here, and no start points." }
      if let split { split.sentence }
    }
  }

  private static func worldSentence(_ head: TransformsHeader, _ world: PoseWorld) -> String {
    guard world != .firstCamera else {
      return
        "The world is that of the first camera: which way is up is not known, nothing was turned (applied_transform is "
        + "the identity), and there is no orientation_override, so that nerfstudio turns the scene upright itself."
    }
    let isTurned = !head.worldFromApp.isIdentity
    return
      "The world has \(isTurned || world == .zUp ? "z" : "y") up; applied_transform leads from the app's world to it"
      + (isTurned ? "" : " (identity)") + ". orientation_override keeps it upright."
  }
}

extension StartPoints {
  /// Writes the points as binary PLY: `float` coordinates, `double` in worlds above 1 km, and
  /// colors.
  func writePLY(_ name: String, comment: String, _ folder: ExportFolder) throws {
    let layout = PLYLayout(
      hasDoubleCoordinates: isFarAway, hasColor: true, comments: [comment])
    let file = try folder.create(name)
    try file.append(layout.header(points: count))
    var records = PLYPoints(layout)
    try forEachList { list in
      records.restart(reserving: list.count)
      for point in list {
        records.append(
          x: point.x, y: point.y, z: point.z, color: (point.red, point.green, point.blue))
      }
      try file.append(records.bytes)
    }
    try file.finish()
  }
}

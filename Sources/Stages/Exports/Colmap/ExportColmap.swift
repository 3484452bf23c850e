import Captures
import Core
import Engine

/// Writes a COLMAP model with its pictures, for trainers of Gaussian splats and for COLMAP itself.
public enum ExportColmap: ExportStage {
  public static let name = "export-colmap"
  public static let version = 2
  public static let sentence =
    "COLMAP model as text and binary, pictures and start points from depth; needs color, poses, intrinsics."
  public static let ports = [colorPort, jpegPort, alignedPort]
  public static let parameters: [ParameterDescription] =
    ExportParameters.selection + ExportParameters.picking
    + ExportParameters.pictures(default: "same")
    + [
      ParameterDescription(
        "model", .choice(["both", "text", "binary"]), default: .text("both"),
        "Files of the model: .txt, .bin; they hold exactly the same values."),
      ParameterDescription(
        "intrinsics", .choice(["each", "median"]), default: .text("each"),
        "each: a camera for each distinct set of values. median: one for all."),
      ParameterDescription(
        "camera", .choice([CommonCamera.perFrame] + CommonCamera.Choice.allCases.map(\.rawValue)),
        "per-frame: as intrinsics=each. median, first: one camera for all frames. Not set: as intrinsics says."
      ).omittedAtDefault(),
      ExportParameters.points, ExportParameters.share, CommonParameters.compression,
    ] + CalibrationChoice.parameters

  package static let needs: ExportNeeds = [.picture, .pose, .intrinsics]
  package static let takesWidePictures = true
  package static let depthRule = DepthChoice.Rule.aligned
  package static func pictures(_ parameters: ParameterValues) -> String? {
    PictureForm(parameters).port
  }

  package static let takesDepthOfAnyGrid = true

  /// Depth is used only for start points.
  package static func wantsDepth(_ parameters: ParameterValues) -> Bool {
    parameters.integer("points") != 0
  }

  public static func run(_ context: StageContext) throws -> StageResult {
    let source = try source(context)
    let frames = try chooseFrames(source)
    guard let pictures = source.pictures else { throw StageDoesNotApply("no color") }
    let folder = ExportFolder(context)
    let names = try folder.writePictures(
      pictures, frames.frames, PictureForm(context.parameters)
    ) { _, frame, ending in picturesFolder + FrameFileName.name(frame, ending) }
    let cameras = ColmapCameras(
      frames.frames.compactMap { source.cameras[$0] }, source.cameras.distortion,
      one: commonCamera(source, frames.frames))
    let points = try StartPoints(
      source, frames.frames, limit: context.parameters.integer("points") ?? 0)

    for form in forms(context.parameters) {
      try writeCameras(cameras, form, folder)
      try writeImages(frames.frames, names, cameras, source, form, folder)
    }
    try writePoints(points, folder)
    try folder.write(ColmapDatabaseScript.text, as: ColmapDatabaseScript.name)

    var manifest = ExportManifest(frames: frames)
    manifest.names = names
    manifest.intrinsicsDeviation = cameras.deviation
    manifest.more["points"] = .integer(Int64(points.count))
    manifest.more["cameras"] = .integer(Int64(cameras.cameras.count))
    var content = ExportContent(source, frames.frames)
    content.hasPictures = true
    content.depth = points.count > 0 ? source.depthChoice : .none
    content.cameras = cameras.deviation == nil ? .each : .one
    content.poses = .recorded
    return try folder.finish(manifest, readme(source, cameras, points), content)
  }

  private static let picturesFolder = "images/"

  /// The common camera, if requested; `camera` overrides `intrinsics`.
  private static func commonCamera(_ source: ExportSource, _ frames: [Int]) -> CommonCamera? {
    let parameters = source.context.parameters
    let isOne =
      parameters.text("camera").map { $0 != CommonCamera.perFrame }
      ?? (parameters.text("intrinsics") == "median")
    return isOne ? CommonCamera(source, frames) : nil
  }

  static func forms(_ parameters: ParameterValues) -> [ColmapForm] {
    switch parameters.text("model") {
    case "text": [.text]
    case "binary": [.binary]
    default: ColmapForm.allCases
    }
  }

  private static func writeCameras(
    _ cameras: ColmapCameras, _ form: ColmapForm, _ folder: ExportFolder
  ) throws {
    var file = try ColmapFile("cameras", form, count: cameras.cameras.count, folder)
    for (index, camera) in cameras.cameras.enumerated() { try file.append(camera, id: index + 1) }
    try file.finish()
  }

  /// Writes images with ids from 1 in the order of frames, which is that of the names;
  /// `database.py` copies the ids into a database.
  private static func writeImages(
    _ frames: [Int], _ names: [String], _ cameras: ColmapCameras, _ source: ExportSource,
    _ form: ColmapForm, _ folder: ExportFolder
  ) throws {
    var file = try ColmapFile("images", form, count: frames.count, folder)
    for (position, frame) in frames.enumerated() {
      guard let pose = source.pose(frame) else { continue }
      try file.append(
        ColmapImage(
          id: position + 1, pose, camera: cameras.ids[position],
          name: String(names[position].dropFirst(picturesFolder.count))))
    }
    try file.finish()
  }

  /// Writes both forms in one pass over the pictures.
  private static func writePoints(_ points: StartPoints, _ folder: ExportFolder) throws {
    let forms = forms(folder.context.parameters)
    var text: ColmapFile? =
      forms.contains(.text) ? try ColmapFile("points3D", .text, count: points.count, folder) : nil
    var binary: ColmapFile? =
      forms.contains(.binary)
      ? try ColmapFile("points3D", .binary, count: points.count, folder) : nil
    var id = 0
    try points.forEachList { list in
      for point in list {
        id += 1
        try text?.append(point, id: id)
        try binary?.append(point, id: id)
      }
    }
    try text?.finish()
    try binary?.finish()
  }
}

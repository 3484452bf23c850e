import Captures
import Core
import Engine

/// Writes a COLMAP model with its pictures, for trainers of Gaussian splats and for COLMAP itself.
enum ExportColmap: ExportStage {
  static let name = "export-colmap"
  static let version = 2
  static let sentence =
    "COLMAP model as text and binary, pictures and start points from depth; needs color, poses, intrinsics."
  static let ports = [colorPort, jpegPort, alignedPort, maskPort]
  static let parameters =
    ExportParameters.selection + ExportParameters.pictures(default: .same)
    + ParameterDescription.list(
      model, intrinsics, camera, ExportParameters.points, ExportParameters.share,
      ExportParameters.compression, SceneFile.parameter, ExportParameters.masks,
      ColmapDatabase.parameter, ColmapDatabase.version, ColmapDatabase.deviation,
      ViewPairs.parameter)
    + ExportSplit.parameters
    + CalibrationChoice.parameters

  static let model = Parameter<ColmapForm?>(
    "model", .choice(or: "both"), default: nil,
    "Files of the model: .txt, .bin; they hold exactly the same values.")
  static let intrinsics = Parameter<CommonCamera.Choice?>(
    "intrinsics", .choice([.median], or: "each"), default: nil,
    "each: a camera for each distinct set of values. median: one for all."
  ).needing(unset: camera)
  private static let camera = Parameter<CommonCamera.Choice??>(
    CommonCamera.parameter.name, .choice(or: CommonCamera.perFrame),
    "per-frame: as intrinsics=each. median, first: one camera for all frames. Not set: as intrinsics says."
  )

  static let needs: ExportNeeds = [.picture, .pose, .intrinsics]
  static let takesWidePictures = true
  static let depthRule = DepthChoice.Rule.aligned

  static let takesDepthOfAnyGrid = true

  /// Depth is used only for start points and pairs.
  static func wantsDepth(_ parameters: ParameterValues) -> Bool {
    parameters[ExportParameters.points] != 0 || parameters[ViewPairs.parameter] != 0
  }

  static func fileProblems(_ parameters: ParameterValues) -> [StageProblem] {
    CalibrationChoice.fileProblems(
      pathProblems(parameters) + PickParameters.problems(parameters)
        + ColmapDatabase.problems(parameters), parameters, for: .color)
  }

  static func write(
    _ frames: [Int], of source: ExportSource, to folder: ExportFolder,
    _ content: inout ExportContent
  ) throws -> ExportReadme {
    let context = source.context
    guard let pictures = source.pictures else { throw StageDoesNotApply("no color") }
    let names = try folder.writePictures(pictures, frames, of: source, as: picturesFolder)
    if let masks = source.masks {
      // The feature extractor looks for the name of the picture with another ending behind it.
      try folder.sharePictures(masks, frames) { position, _, _ in
        "masks/" + names[position].dropFirst(picturesFolder.count) + ".png"
      }
    }
    let cameras = ColmapCameras(
      frames.compactMap { source.cameras[$0] }, source.cameras.distortion,
      one: commonCamera(source, frames))
    let points = try StartPoints(
      source, frames, limit: context.parameters[ExportParameters.points])

    // Ids from 1 in the order of frames, which is that of the names; the database has the same.
    let images = frames.enumerated().compactMap { position, frame in
      source.pose(frame).map { pose in
        ColmapImage(
          id: position + 1, pose: pose, camera: cameras.ids[position],
          name: String(names[position].dropFirst(picturesFolder.count)))
      }
    }
    for form in forms(context.parameters) {
      try writeCameras(cameras, form, folder)
      var file = try ColmapFile("images", form, count: images.count, folder)
      for image in images { try file.append(image) }
      try file.finish()
    }
    try writePoints(points, folder)
    try SceneFile.write(source, frames, points, worldFromApp: .identity, folder)
    let pairs = try ViewPairs.write(
      source, frames, names.map { String($0.dropFirst(picturesFolder.count)) }, folder)
    let split = try ExportSplit(context, frames)
    if let split {
      // The names of the pictures that trainers of splats keep for tests.
      try folder.write(
        split.positions("test").map { names[$0].dropFirst(picturesFolder.count) + "\n" }.joined(),
        as: "sparse/0/test.txt")
    }
    let hasDatabase = context.parameters[ColmapDatabase.parameter]
    if hasDatabase {
      try ColmapDatabase.write(cameras, images, source, folder)
    } else {
      try folder.write(databaseScript, as: databaseScriptName)
    }
    content.names = names
    content.more["points"] = .integer(Int64(points.count))
    content.more["pairs"] = pairs.map { .integer(Int64($0)) }
    content.more["split"] = split?.json
    if hasDatabase { content.more["database"] = ColmapDatabase.recorded(source) }
    content.more["cameras"] = .integer(Int64(cameras.cameras.count))
    content.depth = points.count > 0 ? source.depthChoice : .none
    content.cameras = cameras.common.map { .one($0) } ?? .each
    content.poses = .recorded
    var readme = readme(source, cameras, points, split, hasDatabase)
    ViewPairs.describe(pairs, context.parameters, &readme)
    if source.masks != nil {
      readme.conventions.append(
        "masks/ (--ImageReader.mask_path masks): 255 is used, 0 is not.")
    }
    return readme
  }

  private static let picturesFolder = "images/"

  /// The common camera, if requested; `camera` overrides `intrinsics`.
  private static func commonCamera(_ source: ExportSource, _ frames: [Int]) -> CommonCamera? {
    let parameters = source.context.parameters
    let one = parameters[camera] ?? parameters[intrinsics]
    return one == nil ? nil : CommonCamera(source, frames)
  }

  static func forms(_ parameters: ParameterValues) -> [ColmapForm] {
    parameters[model].map { [$0] } ?? ColmapForm.allCases
  }

  private static func writeCameras(
    _ cameras: ColmapCameras, _ form: ColmapForm, _ folder: ExportFolder
  ) throws {
    var file = try ColmapFile("cameras", form, count: cameras.cameras.count, folder)
    for (index, camera) in cameras.cameras.enumerated() { try file.append(camera, id: index + 1) }
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

extension ExportColmap {
  static func readme(
    _ source: ExportSource, _ cameras: ColmapCameras, _ points: StartPoints,
    _ split: ExportSplit?, _ hasDatabase: Bool
  ) -> ExportReadme {
    let model = cameras.cameras.first?.model ?? .pinhole
    return ExportReadme("COLMAP model") {
      "images/ holds the pictures and nothing else, named by the canonical frame numbers of the capture; "
        + "sparse/0/ holds the model. Files that are there as .txt and as .bin hold exactly the same values. "
        + (hasDatabase
          ? "" : "database.py gives a new database of COLMAP the cameras and images of the model.")
    } opening: {
      for command in opening(model, hasDatabase) { command }
    } conventions: {
      "Poses are world to camera, camera axes x right, y down, z forward, quaternions w x y z; t is not the "
        + "camera's place, which is -Rᵀ t."
      "The world is \(source.worldWords), in meters."
      "The corner of the corner pixel is 0: principal points are half a pixel larger than in our tables."
      cameraSentence(cameras, model)
      "Ids of images are from 1 in the order of their names. feature_extractor numbers new images in the order in "
        + "which its threads end; those that \(hasDatabase ? "are in" : "database.py has put into") the database keep "
        + "ids and cameras."
      if hasDatabase {
        for convention in ColmapDatabase.conventions(source) { convention }
      }
      if points.count > 0 {
        "points3D: \(points.count) points of the depth of every \(StartPoints.frameStep)th exported frame, "
          + "every \(StartPoints.pixelStep)th row and column, evenly thinned; error 0, no track."
      }
    } remarks: {
      if points.count == 0 {
        "There are no start points: trainers of Gaussian splats fail until point_triangulator has made "
          + "some."
      }
      "The poses are a prior. The commands above refine them, with the recorded intrinsics; they hold for COLMAP "
        + "3.8 and later. Without a graphics card or a display add --SiftExtraction.use_gpu 0 to "
        + "feature_extractor and --SiftMatching.use_gpu 0 to sequential_matcher; in COLMAP 4 these are called "
        + "--FeatureExtraction.use_gpu and --FeatureMatching.use_gpu. Frames far apart from each other are matched "
        + "better by exhaustive_matcher."
      undistortion(model)
      if let split { split.sentence + " sparse/0/test.txt names those for tests." }
    }
  }

  /// Measured with COLMAP 3.8: cameras and pixels of PINHOLE do not change.
  private static func undistortion(_ model: ColmapCamera.Model) -> String {
    let principalPoint =
      " Some trainers take the middle of the picture for cx, cy; image_undistorter does not move them there."
    return model == .pinhole
      ? "Trainers of Gaussian splats take PINHOLE cameras, as these are: colmap image_undistorter is not needed and "
        + "changes nothing." + principalPoint
      : "Trainers of Gaussian splats take PINHOLE cameras alone: colmap image_undistorter makes such pictures and "
        + "cameras." + principalPoint
  }

  private static func cameraSentence(
    _ cameras: ColmapCameras, _ model: ColmapCamera.Model
  ) -> String {
    if let common = cameras.common {
      return
        "One \(model.name) camera, "
        + (common.choice == .median ? "the median of all frames" : common.words)
        + common.deviationWords
    }
    return
      "\(Plural.text(cameras.cameras.count, "\(model.name) camera")): one for each "
      + "distinct set of values, in order of appearance."
  }

  private static func opening(
    _ model: ColmapCamera.Model, _ hasDatabase: Bool
  ) -> [(command: String, purpose: String)] {
    let commands: [(command: String, purpose: String)] = [
      ("pycolmap.Reconstruction('export-colmap/sparse/0')", "The model, in Python"),
      ("train.py -s export-colmap", "3D Gaussian splatting"),
      (
        "colmap gui --import_path sparse/0 --image_path images --database_path database.db",
        "COLMAP's viewer"
      ),
      (
        refining.dropFirst(hasDatabase ? 2 : 0).joined(separator: "\n    "),
        "To refine the poses in COLMAP, in a copy of this folder"
      ),
    ]
    guard model != .pinhole else { return commands }
    return commands + [
      (
        "colmap image_undistorter --image_path images --input_path sparse/0 --output_path undistorted",
        "Pictures without distortion and PINHOLE cameras"
      )
    ]
  }

  /// Commands, one per line.
  private static let refining = [
    "colmap database_creator --database_path database.db",
    "python3 \(databaseScriptName)",
    "colmap feature_extractor --database_path database.db --image_path images",
    "colmap sequential_matcher --database_path database.db",
    "mkdir -p sparse/triangulated sparse/refined",
    "colmap point_triangulator --database_path database.db --image_path images --input_path sparse/0 "
      + "--output_path sparse/triangulated --clear_points 1",
    "colmap bundle_adjuster --input_path sparse/triangulated --output_path sparse/refined "
      + "--BundleAdjustment.refine_focal_length 0 --BundleAdjustment.refine_extra_params 0",
  ]
}

/// `database.py` next to a COLMAP model: fills a new COLMAP database with the cameras and images of
/// the model.
///
/// `feature_extractor` alone numbers images in the order in which its threads end (3.x) and gives
/// every image its own camera and rig with a guessed focal length. `point_triangulator` then
/// aborts, because database and model disagree. Images that are already in the database keep their
/// ids and cameras, in all versions.
extension ExportColmap {
  fileprivate static let databaseScriptName = "database.py"

  fileprivate static let databaseScript = #"""
    #!/usr/bin/env python3
    """Fills database.db, new from `colmap database_creator`, with the cameras and images of sparse/0.

    Images then have the same ids, cameras and intrinsics in the database as in the model.
    """

    import pathlib
    import sqlite3
    import struct

    FOLDER = pathlib.Path(__file__).resolve().parent
    MODEL = FOLDER / "sparse" / "0"
    # PINHOLE, OPENCV, FULL_OPENCV.
    NUMBERS = {"PINHOLE": 1, "OPENCV": 4, "FULL_OPENCV": 6}
    PARAMETERS = {1: 4, 4: 8, 6: 12}


    def from_binary():
        data = (MODEL / "cameras.bin").read_bytes()
        cameras, place = [], 8
        for _ in range(struct.unpack_from("<Q", data)[0]):
            camera, kind, width, height = struct.unpack_from("<iiQQ", data, place)
            size = 8 * PARAMETERS[kind]
            cameras.append((camera, kind, width, height, data[place + 24 : place + 24 + size]))
            place += 24 + size
        data = (MODEL / "images.bin").read_bytes()
        images, place = [], 8
        for _ in range(struct.unpack_from("<Q", data)[0]):
            # Id, four numbers of the rotation, three of the translation, camera, name.
            (image,) = struct.unpack_from("<i", data, place)
            (camera,) = struct.unpack_from("<i", data, place + 60)
            end = data.index(0, place + 64)
            images.append((image, data[place + 64 : end].decode(), camera))
            (points,) = struct.unpack_from("<Q", data, end + 1)
            place = end + 9 + 24 * points
        return cameras, images


    def from_text():
        def rows(name):
            lines = (MODEL / name).read_text().splitlines()
            return [line.split() for line in lines if line and not line.startswith("#")]

        cameras = []
        for camera, kind, width, height, *values in rows("cameras.txt"):
            blob = struct.pack(f"<{len(values)}d", *map(float, values))
            cameras.append((int(camera), NUMBERS[kind], int(width), int(height), blob))
        return cameras, [(int(row[0]), row[9], int(row[8])) for row in rows("images.txt")]


    cameras, images = from_binary() if (MODEL / "cameras.bin").exists() else from_text()
    database = sqlite3.connect(FOLDER / "database.db")
    with database:
        # 1: the focal length is known.
        database.executemany("INSERT INTO cameras VALUES (?, ?, ?, ?, ?, 1)", cameras)
        database.executemany("INSERT INTO images (image_id, name, camera_id) VALUES (?, ?, ?)", images)
        tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
        if "frames" in tables:
            # Versions with rigs: one of each camera, and a frame for each image, as they make up for the model.
            database.execute("INSERT INTO rigs SELECT camera_id, camera_id, 0 FROM cameras")
            database.execute("INSERT INTO frames SELECT image_id, camera_id FROM images")
            database.execute("INSERT INTO frame_data SELECT image_id, image_id, camera_id, 0 FROM images")
    database.close()
    print(f"{len(cameras)} cameras, {len(images)} images")

    """#
}

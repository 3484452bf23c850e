import Core

extension ExportColmap {
  static func readme(
    _ source: ExportSource, _ cameras: ColmapCameras, _ points: StartPoints
  ) -> ExportReadme {
    let model = cameras.cameras.first?.model ?? .pinhole
    var readme = ExportReadme("COLMAP model")
    readme.contents = [
      "images/ holds the pictures and nothing else, named by the canonical frame numbers of the capture; "
        + "sparse/0/ holds the model. Files that are there as .txt and as .bin hold exactly the same values. "
        + "database.py gives a new database of COLMAP the cameras and images of the model."
    ]
    readme.opening = opening(model)
    readme.conventions = [
      "Poses are world to camera, camera axes x right, y down, z forward, quaternions w x y z; t is not the "
        + "camera's place, which is -Rᵀ t.",
      "The world is \(source.worldWords), in meters.",
      "The corner of the corner pixel is 0: principal points are half a pixel larger than in our tables.",
      cameraSentence(cameras, model),
      "Ids of images are from 1 in the order of their names. feature_extractor numbers new images in the order in "
        + "which its threads end; those that database.py has put into the database keep ids and cameras.",
    ]
    if points.count > 0 {
      readme.conventions.append(
        "points3D: \(points.count) points of the depth of every \(StartPoints.frameStep)th exported frame, "
          + "every \(StartPoints.pixelStep)th row and column, evenly thinned; error 0, no track.")
    } else {
      readme.remarks.append(
        "There are no start points: trainers of Gaussian splats fail until point_triangulator has made "
          + "some.")
    }
    readme.remarks.append(
      "The poses are a prior. The commands above refine them, with the recorded intrinsics; they hold for COLMAP "
        + "3.8 and later. Without a graphics card or a display add --SiftExtraction.use_gpu 0 to "
        + "feature_extractor and --SiftMatching.use_gpu 0 to sequential_matcher; in COLMAP 4 these are called "
        + "--FeatureExtraction.use_gpu and --FeatureMatching.use_gpu. Frames far apart from each other are matched "
        + "better by exhaustive_matcher.")
    readme.remarks.append(undistortion(model))
    return readme
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
        + "; the largest deviation of any frame is "
        + "\(ExportReadme.rounded(common.largestDeviation)) pixels."
    }
    return
      "\(Plural.text(cameras.cameras.count, "\(model.name) camera")): one for each "
      + "distinct set of values, in order of appearance."
  }

  private static func opening(
    _ model: ColmapCamera.Model
  ) -> [(command: String, purpose: String)] {
    let commands: [(command: String, purpose: String)] = [
      ("pycolmap.Reconstruction('export-colmap/sparse/0')", "The model, in Python"),
      ("train.py -s export-colmap", "3D Gaussian splatting"),
      (
        "colmap gui --import_path sparse/0 --image_path images --database_path database.db",
        "COLMAP's viewer"
      ),
      (
        refining.joined(separator: "\n    "),
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
    "python3 \(ColmapDatabaseScript.name)",
    "colmap feature_extractor --database_path database.db --image_path images",
    "colmap sequential_matcher --database_path database.db",
    "mkdir -p sparse/triangulated sparse/refined",
    "colmap point_triangulator --database_path database.db --image_path images --input_path sparse/0 "
      + "--output_path sparse/triangulated --clear_points 1",
    "colmap bundle_adjuster --input_path sparse/triangulated --output_path sparse/refined "
      + "--BundleAdjustment.refine_focal_length 0 --BundleAdjustment.refine_extra_params 0",
  ]
}

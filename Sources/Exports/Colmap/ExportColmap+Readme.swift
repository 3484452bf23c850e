import Geometry

extension ExportColmap {
  static func readme(
    _ source: ExportSource, _ cameras: ColmapCameras, _ points: StartPoints
  ) -> ExportReadme {
    let model = cameras.cameras.first?.model ?? .pinhole
    var readme = ExportReadme("COLMAP model")
    readme.contents = [
      "images/ holds the pictures and nothing else, named by the canonical frame numbers of the capture; "
        + "sparse/0/ holds the model. Files that are there as .txt and as .bin hold exactly the same values."
    ]
    readme.opening = opening(model)
    readme.conventions = [
      "Poses are world to camera, camera axes x right, y down, z forward, quaternions w x y z; t is not the "
        + "camera's place, which is -Rᵀ t.",
      "The world is the app's, in meters (\(source.worldIsYUp ? "y" : "z") up).",
      "The corner of the corner pixel is 0: principal points are half a pixel larger than in our tables.",
      cameraSentence(cameras, model),
      "Ids of images are from 1 in the order of their names, as feature_extractor numbers them.",
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
    if source.cameras.distortion == nil {
      readme.notMeasured.append(
        "The distortion of the lens: no coefficients are known, and PINHOLE has none.")
    }
    readme.remarks.append(
      "The poses are those of the app: a prior. The commands above refine them.")
    readme.remarks.append(
      "Trainers of Gaussian splats take PINHOLE alone, and some take the middle of the picture for cx, cy; "
        + "colmap image_undistorter makes pictures and cameras for them.")
    readme.remarks += ExportRemarks.all(source)
    return readme
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
      "\(cameras.cameras.count) \(model.name) camera\(cameras.cameras.count == 1 ? "" : "s"): one for each "
      + "distinct set of values, in order of appearance."
  }

  private static func opening(
    _ model: ColmapCamera.Model
  ) -> [(command: String, purpose: String)] {
    [
      ("pycolmap.Reconstruction('export-colmap/sparse/0')", "The model, in Python"),
      ("train.py -s export-colmap", "3D Gaussian splatting"),
      (
        "colmap gui --import_path sparse/0 --image_path images --database_path database.db",
        "COLMAP's viewer"
      ),
      (
        "colmap feature_extractor --database_path database.db --image_path images "
          + "--ImageReader.camera_model \(model.name)\n"
          + "    colmap sequential_matcher --database_path database.db\n"
          + "    mkdir -p sparse/triangulated sparse/refined\n"
          + "    colmap point_triangulator --database_path database.db --image_path images "
          + "--input_path sparse/0 --output_path sparse/triangulated\n"
          + "    colmap bundle_adjuster --input_path sparse/triangulated --output_path sparse/refined",
        "To refine the poses in COLMAP, in this folder"
      ),
      (
        "colmap image_undistorter --image_path images --input_path sparse/0 --output_path undistorted",
        "Pictures without distortion and PINHOLE cameras"
      ),
    ]
  }
}

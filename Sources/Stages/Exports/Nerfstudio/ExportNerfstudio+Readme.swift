import Core

extension ExportNerfstudio {
  static func readme(
    _ source: ExportSource, _ head: TransformsHeader, _ points: StartPoints, _ common: CommonCamera?
  ) -> ExportReadme {
    var readme = ExportReadme("Scene for nerfstudio")
    readme.contents = [
      "transforms.json names the pictures in images/"
        + (head.hasDepth ? " and the depth in depths/" : "")
        + ", which have the canonical frame numbers of the capture."
    ]
    readme.opening = [
      ("ns-train splatfacto --data export-nerfstudio", "Gaussian splats"),
      ("ns-train nerfacto --data export-nerfstudio", "A radiance field"),
    ]
    if head.hasDepth {
      readme.opening.append(
        ("ns-train depth-nerfacto --data export-nerfstudio", "A radiance field that follows depth"))
      readme.conventions.append(
        "depths/: 16-bit PNG on the grid of the pictures, millimeters along the optical axis, 0 = none. Every "
          + "frame has depth: the reader refuses scenes in which only some have it.")
    } else {
      readme.remarks.append("There is no depth here, and no start points.")
    }
    if head.isForNGP {
      readme.opening.append(("instant-ngp export-nerfstudio", "instant-ngp"))
    }
    readme.conventions += [
      "transform_matrix: camera to world, 4x4 by rows, meters; camera axes x right, y up, z toward the viewer "
        + "(OpenGL).",
      worldSentence(head, source.world),
      "cx, cy count from the corner of the corner pixel: half a pixel more than in our tables.",
      head.camera == nil
        ? "Intrinsics change from frame to frame and stand in every frame."
        : common.map {
          "One camera stands for all frames: \($0.words); the largest deviation of any frame is "
            + "\(ExportReadme.rounded($0.largestDeviation)) pixels. It stands at the top."
        } ?? "All frames have the same intrinsics; they stand at the top.",
    ]
    if points.count > 0 {
      readme.conventions.append(
        "sparse_pc.ply: \(points.count) points of the depth of every \(StartPoints.frameStep)th exported "
          + "frame, every \(StartPoints.pixelStep)th row and column, evenly thinned, in the world of "
          + "transforms.json.")
    }
    return readme
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

import Captures
import Media
import Engine

extension ExportPLY {
  static func readme(_ plan: PointCloudPlan, _ points: Int) -> ExportReadme {
    let first = plan.frames.first.map { PointCloudSink.name(of: $0, plan.files) } ?? ""
    var readme = ExportReadme("Point cloud")
    readme.contents = [
      plan.files == .cloud
        ? "cloud.ply: \(points) points of \(plan.frames.count) depth frames."
        : "One PLY file per depth frame, named by the canonical frame numbers of the capture; \(points) "
          + "points in total."
    ]
    readme.opening = [
      ("plyfile.PlyData.read('\(first)')", "In Python"),
      ("open3d.io.read_point_cloud('\(first)')", "With Open3D"),
    ]
    readme.conventions = [
      plan.layout.hasDoubleCoordinates
        ? "Binary, little-endian; coordinates in meters, double: the world reaches more than 1 km from its "
          + "origin."
        : "Binary, little-endian; coordinates in meters, float.",
      plan.axes == .world
        ? "The axes are those of \(plan.source.worldWords)."
        : "The axes are those of the \(camera(plan)): x right, y down, z forward; every frame has its own.",
      plan.layout.hasColor
        ? "red, green, blue: where the color camera sees the point; points that it does not see are left out."
        : "The points have no colors.",
    ]
    if plan.isThroughLens {
      readme.conventions.append(
        "Depth was measured through a lens with known coefficients, which are applied: the points lie where the "
          + "surfaces are.")
    }
    if plan.layout.hasConfidence {
      readme.conventions.append("confidence: as the app recorded it, 0 where it is not known.")
    }
    if plan.layout.hasFrame {
      readme.conventions.append("frame: the canonical frame that a point comes from.")
    }
    if plan.axes == .camera, plan.files == .cloud {
      readme.remarks.append(
        "Without poses, the place of each frame is not known: the cloud is one frame. With --set "
          + "export-ply.layout=frames every frame has its file.")
    }
    return readme
  }

  private static func camera(_ plan: PointCloudPlan) -> String {
    if case .absent = plan.source.context.capture.color { return "camera that depth belongs to" }
    return "color camera as it stores its pictures"
  }
}

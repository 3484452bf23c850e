import Core

/// A rectangle of pixels, possibly empty.
struct PixelRange: Sendable {
  var columns: Range<Int>
  var rows: Range<Int>

  /// The pixels that the convex hull of some points (camera axes, meters) can cover: the whole
  /// picture if a point is behind the camera or close to it.
  init(around points: [Vector3], camera: PinholeCamera) {
    guard points.contains(where: { $0.z > 0 }) else {
      self.init(columns: 0..<0, rows: 0..<0)
      return
    }
    guard points.allSatisfy({ $0.z > 0.05 }) else {
      self.init(columns: 0..<camera.width, rows: 0..<camera.height)
      return
    }
    let u = points.map { camera.fx * $0.x / $0.z + camera.cx }
    let v = points.map { camera.fy * $0.y / $0.z + camera.cy }
    self.init(
      columns: Self.clamp(u, to: camera.width), rows: Self.clamp(v, to: camera.height))
  }

  private init(columns: Range<Int>, rows: Range<Int>) {
    self.columns = columns
    self.rows = rows
  }

  /// Adds one pixel on either side.
  private static func clamp(_ values: [Double], to count: Int) -> Range<Int> {
    let limit = Double(count)
    let first = max(0, min(limit, (values.min() ?? 0).rounded(.down) - 1))
    let end = max(first, min(limit, (values.max() ?? limit).rounded(.up) + 2))
    return Int(first)..<Int(end)
  }
}

import Geometry

/// A scene seen from one viewpoint: precomputed values that all pixels of a picture share.
///
/// Rays start at the camera and have the direction `(u', v', 1)` in camera axes for pixel (u, v),
/// so that the ray parameter of a hit is its depth along the optical axis.
struct PreparedView: Sendable {
  /// A block in its own axes, and the pixels that it can cover.
  struct PreparedBlock: Sendable {
    var origin: Vector3
    var half: Vector3
    /// Camera axes to block axes.
    var turn: Matrix3
    var firstSurface: Int32
    var pixels: PixelRange
  }

  struct PreparedBall: Sendable {
    /// In camera axes.
    var center: Vector3
    var radius: Double
    var surface: Int32
    var pixels: PixelRange
  }

  let camera: PinholeCamera
  let viewpoint: Viewpoint
  let low: Vector3
  let high: Vector3
  let blocks: [PreparedBlock]
  let balls: [PreparedBall]

  init(room: Room, camera: PinholeCamera, viewpoint: Viewpoint) {
    self.camera = camera
    self.viewpoint = viewpoint
    low = room.low - viewpoint.position
    high = room.high - viewpoint.position
    let cameraFromWorld = viewpoint.worldFromCamera.transposed
    blocks = room.blocks.map { block in
      let blockFromWorld = block.worldFromBlock.transposed
      var corners: [Vector3] = []
      for corner in 0..<8 {
        let sign = Vector3(
          corner & 1 == 0 ? -1 : 1, corner & 2 == 0 ? -1 : 1, corner & 4 == 0 ? -1 : 1)
        let world = block.worldFromBlock * (sign * block.half) + block.center
        corners.append(cameraFromWorld * (world - viewpoint.position))
      }
      return PreparedBlock(
        origin: blockFromWorld * (viewpoint.position - block.center), half: block.half,
        turn: blockFromWorld * viewpoint.worldFromCamera,
        firstSurface: Int32(block.firstSurface),
        pixels: PixelRange(around: corners, camera: camera))
    }
    balls = room.balls.map { ball in
      let center = cameraFromWorld * (ball.center - viewpoint.position)
      // The corners of the cube around a ball enclose its outline.
      let corners = (0..<8).map { corner in
        center
          + Vector3(
            corner & 1 == 0 ? -1 : 1, corner & 2 == 0 ? -1 : 1, corner & 4 == 0 ? -1 : 1)
          * ball.radius
      }
      return PreparedBall(
        center: center, radius: ball.radius, surface: Int32(ball.surface),
        pixels: PixelRange(around: corners, camera: camera))
    }
  }
}

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

import Core

/// A scene seen from one viewpoint: precomputed values that all pixels of a picture share.
///
/// Rays start at the camera and have the direction `(u', v', 1)` in camera axes for pixel (u, v),
/// so that the ray parameter of a hit is its depth along the optical axis.
struct PreparedView {
  /// A block in its own axes, and the pixels that it can cover.
  struct PreparedBlock {
    var origin: Vector3
    var half: Vector3
    /// Camera axes to block axes.
    var turn: Matrix3
    var firstSurface: Int32
    var pixels: PixelRange
    /// The faces among `outlines` toward the camera, at most three.
    var faces: Range<Int>
  }

  struct PreparedBall {
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
  /// Visible faces of all blocks, block by block.
  let outlines: [FaceOutline]
  /// u' of every column.
  let directions: [Double]
  /// Whether vectors of eight numbers are used.
  let isWide: Bool

  init(
    room: Room, camera: PinholeCamera, viewpoint: Viewpoint, isWide: Bool = PixelLoops.hasWide
  ) {
    self.camera = camera
    self.isWide = isWide
    self.viewpoint = viewpoint
    low = room.low - viewpoint.position
    high = room.high - viewpoint.position
    let inverse = 1 / camera.fx
    directions = (0..<camera.width).map { (Double($0) - camera.cx) * inverse }
    let cameraFromWorld = viewpoint.worldFromCamera.transposed
    var outlines: [FaceOutline] = []
    blocks = room.blocks.map { block in
      let blockFromWorld = block.worldFromBlock.transposed
      var corners: [Vector3] = []
      for corner in 0..<8 {
        let sign = Vector3(
          corner & 1 == 0 ? -1 : 1, corner & 2 == 0 ? -1 : 1, corner & 4 == 0 ? -1 : 1)
        let world = block.worldFromBlock * (sign * block.half) + block.center
        corners.append(cameraFromWorld * (world - viewpoint.position))
      }
      let origin = blockFromWorld * (viewpoint.position - block.center)
      let firstOutline = outlines.count
      for face in 0..<6 {
        let axis = face / 2
        // As the caster computes it, to the last bit.
        let plane =
          face % 2 == 0
          ? block.half[axis] * -1 - origin[axis] : block.half[axis] - origin[axis]
        // The camera is on the outer side of the face, or so close to its plane that it may be.
        guard face % 2 == 0 ? plane > -1e-9 : plane < 1e-9 else { continue }
        outlines.append(FaceOutline(face: face, plane: plane, corners: corners, camera: camera))
      }
      return PreparedBlock(
        origin: origin, half: block.half, turn: blockFromWorld * viewpoint.worldFromCamera,
        firstSurface: Int32(block.firstSurface),
        pixels: PixelRange(around: corners, camera: camera),
        faces: firstOutline..<outlines.count)
    }
    self.outlines = outlines
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

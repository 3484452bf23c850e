import Geometry

extension PreparedView {
  /// Casts the rays of row `v` into `hits`, which must hold at least as many elements as columns.
  ///
  /// Every ray hits a wall, because the camera is inside the box. Cost: about 10 ns per pixel, and
  /// 10 ns more for each object whose bounding rectangle contains the pixel.
  func castRow(_ v: Int, into hits: inout MutableSpan<RayHit>) {
    precondition(hits.count >= camera.width)
    let y = (Double(v) - camera.cy) / camera.fy
    castWalls(y: y, into: &hits)
    for block in blocks where block.pixels.rows.contains(v) {
      cast(block, y: y, into: &hits)
    }
    for ball in balls where ball.pixels.rows.contains(v) {
      cast(ball, y: y, into: &hits)
    }
  }

  private func castWalls(y: Double, into hits: inout MutableSpan<RayHit>) {
    let turn = viewpoint.worldFromCamera
    let start = turn.y * y + turn.z
    let step = turn.x
    let inverse = 1 / camera.fx
    var u = 0
    while u < camera.width {
      let x = (Double(u) - camera.cx) * inverse
      let dx = step.x * x + start.x
      let dy = step.y * x + start.y
      let dz = step.z * x + start.z
      let tx = (dx < 0 ? low.x : high.x) / dx
      let ty = (dy < 0 ? low.y : high.y) / dy
      let tz = (dz < 0 ? low.z : high.z) / dz
      // The nearest of the three walls ahead; a ray parallel to a wall gives infinity.
      var depth = tx
      var surface: Int32 = dx < 0 ? 0 : 1
      if ty < depth {
        depth = ty
        surface = dy < 0 ? 2 : 3
      }
      if tz < depth {
        depth = tz
        surface = dz < 0 ? 4 : 5
      }
      hits[unchecked: u] = RayHit(depth: depth, surface: surface)
      u &+= 1
    }
  }

  private func cast(_ block: PreparedBlock, y: Double, into hits: inout MutableSpan<RayHit>) {
    let start = block.turn.y * y + block.turn.z
    let step = block.turn.x
    let inverse = 1 / camera.fx
    let nearer = block.half * -1 - block.origin
    let farther = block.half - block.origin
    var u = block.pixels.columns.lowerBound
    while u < block.pixels.columns.upperBound {
      let x = (Double(u) - camera.cx) * inverse
      let dx = 1 / (step.x * x + start.x)
      let dy = 1 / (step.y * x + start.y)
      let dz = 1 / (step.z * x + start.z)
      let inX = (dx < 0 ? farther.x : nearer.x) * dx
      let inY = (dy < 0 ? farther.y : nearer.y) * dy
      let inZ = (dz < 0 ? farther.z : nearer.z) * dz
      let outX = (dx < 0 ? nearer.x : farther.x) * dx
      let outY = (dy < 0 ? nearer.y : farther.y) * dy
      let outZ = (dz < 0 ? nearer.z : farther.z) * dz
      let leaves = min(outX, min(outY, outZ))
      var enters = inX
      var face: Int32 = dx < 0 ? 1 : 0
      if inY > enters {
        enters = inY
        face = dy < 0 ? 3 : 2
      }
      if inZ > enters {
        enters = inZ
        face = dz < 0 ? 5 : 4
      }
      if enters <= leaves, enters > 0, enters < hits[unchecked: u].depth {
        hits[unchecked: u] = RayHit(depth: enters, surface: block.firstSurface &+ face)
      }
      u &+= 1
    }
  }

  private func cast(_ ball: PreparedBall, y: Double, into hits: inout MutableSpan<RayHit>) {
    let c = ball.center
    let rest = c.dot(c) - ball.radius * ball.radius
    let inverse = 1 / camera.fx
    var u = ball.pixels.columns.lowerBound
    while u < ball.pixels.columns.upperBound {
      let x = (Double(u) - camera.cx) * inverse
      // |t·d − c|² = r² with d = (x, y, 1).
      let a = x * x + y * y + 1
      let b = x * c.x + y * c.y + c.z
      let discriminant = b * b - a * rest
      if discriminant > 0 {
        let depth = (b - discriminant.squareRoot()) / a
        if depth > 0, depth < hits[unchecked: u].depth {
          hits[unchecked: u] = RayHit(depth: depth, surface: ball.surface)
        }
      }
      u &+= 1
    }
  }
}

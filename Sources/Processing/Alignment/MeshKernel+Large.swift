extension MeshKernel {
  /// Draws one quad that covers more than three by three pixels, one triangle after the other.
  func drawLarge(_ rows: VertexRows, at i: Int, _ target: InverseDepthTarget) {
    let a = Corner(rows.top, at: i, stride: rows.stride)
    let b = Corner(rows.top, at: i &+ 1, stride: rows.stride)
    let c = Corner(rows.bottom, at: i, stride: rows.stride)
    let d = Corner(rows.bottom, at: i &+ 1, stride: rows.stride)
    if abs(b.z - c.z) <= abs(a.z - d.z) {
      drawLarge(b, d, c, target)
      drawLarge(b, c, a, target)
    } else {
      drawLarge(a, b, d, target)
      drawLarge(a, d, c, target)
    }
  }

  private func drawLarge(_ a: Corner, _ b: Corner, _ c: Corner, _ target: InverseDepthTarget) {
    let nearest = min(a.z, b.z, c.z)
    let farthest = max(a.z, b.z, c.z)
    guard farthest - nearest <= discontinuityAbsolute + discontinuityRelative * nearest else {
      return
    }
    ScreenTriangle(a, b, c, width: target.width)?.draw(into: target)
  }
}

/// A vertex: position on the output grid, 1/Z and stored depth.
struct Corner {
  let x, y, w, z: Float

  init(_ row: UnsafePointer<Float>, at i: Int, stride: Int) {
    x = row[i]
    y = row[stride &+ i]
    w = row[2 &* stride &+ i]
    z = row[3 &* stride &+ i]
  }
}

/// Draws each depth pixel separately: as one output pixel, or as an upright box.
///
/// For comparison with other tools; `MeshKernel` draws surfaces.
struct SplatKernel: Sendable {
  let vertexStride: Int
  /// Number of depth columns.
  let width: Int

  /// Draws each vertex of a row to the one pixel nearest to its position.
  func drawPoints(_ row: UnsafePointer<Float>, into target: InverseDepthTarget) {
    let n = vertexStride
    let endColumn = Float(target.width)
    let (firstRow, endRow) = (Float(target.rows.lowerBound), Float(target.rows.upperBound))
    for i in 0..<width {
      let w = row[2 &* n &+ i]
      let (x, y) = (row[i] + 0.5, row[n &+ i] + 0.5)
      guard w > 0, x >= 0, x < endColumn, y >= firstRow, y < endRow else { continue }
      let pixel = target.row(Int(y)) + Int(x)
      if pixel.pointee < w { pixel.pointee = w }
    }
  }

  /// Draws each depth pixel to the pixel centers in the box that its projected corners span, lower
  /// bound included, upper excluded, and to the pixel that `drawPoints` would write. All get the
  /// depth of the pixel's center. If a corner has no projection, only the latter is drawn.
  func drawRectangles(
    centers: UnsafePointer<Float>, corners: UnsafePointer<Float>,
    oppositeCorners: UnsafePointer<Float>, into target: InverseDepthTarget
  ) {
    drawPoints(centers, into: target)
    let n = vertexStride
    let endColumn = Float(target.width)
    let (firstRow, endRow) = (Float(target.rows.lowerBound), Float(target.rows.upperBound))
    for i in 0..<width {
      let w = centers[2 &* n &+ i]
      guard w > 0, corners[2 &* n &+ i] > 0, oppositeCorners[2 &* n &+ i] > 0 else { continue }
      let (u0, u1) = (corners[i], oppositeCorners[i])
      let (v0, v1) = (corners[n &+ i], oppositeCorners[n &+ i])
      let left = Self.ceiling(min(u0, u1), from: 0, to: endColumn)
      let right = Self.ceiling(max(u0, u1), from: 0, to: endColumn)
      let top = Self.ceiling(min(v0, v1), from: firstRow, to: endRow)
      let below = Self.ceiling(max(v0, v1), from: firstRow, to: endRow)
      var y = top
      while y < below {
        let pixels = target.row(y)
        var x = left
        while x < right {
          pixels[x] = max(pixels[x], w)
          x &+= 1
        }
        y &+= 1
      }
    }
  }

  /// The smallest integer not below the value, clamped to the bounds, without a library call.
  @inline(__always)
  private static func ceiling(_ value: Float, from low: Float, to high: Float) -> Int {
    let bounded = min(max(value, low), high)
    let whole = Int(bounded)
    return Float(whole) < bounded ? whole &+ 1 : whole
  }
}

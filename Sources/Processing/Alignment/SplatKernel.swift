/// Draws each depth pixel alone: as one output pixel, or as an upright box.
///
/// For comparison with other tools; `MeshKernel` is what gives surfaces.
struct SplatKernel: Sendable {
  let vertexStride: Int
  /// Depth columns.
  let width: Int

  /// One pixel for each vertex of a row, the nearest to its position.
  func drawPoints(_ row: UnsafePointer<Float>, into target: InverseDepthTarget) {
    for i in 0..<width {
      let w = row[2 &* vertexStride &+ i]
      guard w > 0 else { continue }
      raise(
        target, x: (row[i] + 0.5).rounded(.down), y: (row[vertexStride &+ i] + 0.5).rounded(.down),
        w)
    }
  }

  /// The pixel centers in the box that the projected corners of each depth pixel span, lower bound
  /// included, upper excluded, and in any case the pixel that `drawPoints` would write. All get the
  /// depth of the pixel's center. A corner without projection leaves that pixel alone.
  func drawRectangles(
    centers: UnsafePointer<Float>, corners: UnsafePointer<Float>,
    oppositeCorners: UnsafePointer<Float>, into target: InverseDepthTarget
  ) {
    drawPoints(centers, into: target)
    let n = vertexStride
    let lastColumn = Float(target.width)
    let (firstRow, endRow) = (Float(target.rows.lowerBound), Float(target.rows.upperBound))
    for i in 0..<width {
      let w = centers[2 &* n &+ i]
      guard w > 0, corners[2 &* n &+ i] > 0, oppositeCorners[2 &* n &+ i] > 0 else { continue }
      let (u0, u1) = (corners[i], oppositeCorners[i])
      let (v0, v1) = (corners[n &+ i], oppositeCorners[n &+ i])
      let left = max(min(u0, u1).rounded(.up), 0)
      let right = min(max(u0, u1).rounded(.up), lastColumn)
      let top = max(min(v0, v1).rounded(.up), firstRow)
      let below = min(max(v0, v1).rounded(.up), endRow)
      guard left < right, top < below else { continue }
      for y in Int(top)..<Int(below) {
        let pixels = target.row(y)
        for x in Int(left)..<Int(right) where pixels[x] < w { pixels[x] = w }
      }
    }
  }

  @inline(__always)
  private func raise(_ target: InverseDepthTarget, x: Float, y: Float, _ w: Float) {
    guard x >= 0, x < Float(target.width), y >= Float(target.rows.lowerBound),
      y < Float(target.rows.upperBound)
    else { return }
    let pixel = target.row(Int(y)) + Int(x)
    if pixel.pointee < w { pixel.pointee = w }
  }
}

import Geometry

/// The rays of a grid of depth-camera positions, turned into the color camera's axes: a = R·(x, y, 1).
///
/// A depth z on the ray gives the point z·a + t, so that no lens is inverted in the frame loop. Where
/// the lens has no ray the entry is NaN and fails every comparison. One row holds the three
/// coordinates one after another, `stride` values each, padded with NaN. 12 bytes a position.
struct RayTable: Sendable {
  let stride: Int
  let values: [Float]

  static let empty = RayTable(stride: 0, values: [])

  private init(stride: Int, values: [Float]) {
    self.stride = stride
    self.values = values
  }

  /// Four more values than the rows need let a reader start one value late.
  ///
  /// Positions (i + offset, j + offset) for i < columns, j < rows. Cost: one lens inversion each.
  init(
    camera: LensCamera, rotation r: [Double], columns: Int, rows: Int, stride: Int,
    offset: Double = 0
  ) {
    self.stride = stride
    var values = [Float](repeating: .nan, count: 3 * stride * rows + 4)
    for j in 0..<rows {
      for i in 0..<columns {
        guard let (x, y) = camera.ray(u: Double(i) + offset, v: Double(j) + offset) else {
          continue
        }
        let at = 3 * stride * j + i
        values[at] = Float(r[0] * x + r[1] * y + r[2])
        values[at + stride] = Float(r[3] * x + r[4] * y + r[5])
        values[at + 2 * stride] = Float(r[6] * x + r[7] * y + r[8])
      }
    }
    self.values = values
  }
}

import Core

/// The rays of a grid of depth-camera positions, rotated into the color camera's axes: a = R·(x, y,
/// 1).
///
/// A depth z on the ray gives the point z·a + t, so that no lens is inverted in the frame loop.
/// Where the lens has no ray the entry is NaN, which fails every comparison. A row interleaves the
/// coordinates of four positions at a time (four x, four y, four z), padded with NaN to `stride`
/// positions: memory is read as one stream instead of three. 12 bytes per position.
struct RayTable {
  let stride: Int
  let values: [Float]

}

extension RayTable {
  static let empty = RayTable(stride: 0, values: [])

  /// Offset of the x of a column in its row; y is `lanes` values further on, z twice as many.
  static func place(ofColumn i: Int) -> Int { i / lanes * 3 * lanes + i % lanes }
  /// Positions per interleaved group.
  static let lanes = 4
  /// Number of values in a row.
  static func rowLength(stride: Int) -> Int { 3 * stride }

  /// Rays of the positions (i + offset, j + offset) for i < columns, j < rows. Cost: one lens
  /// inversion each.
  init(
    camera: LensCamera, rotation r: [Double], columns: Int, rows: Int, stride: Int,
    offset: Double = 0
  ) {
    self.stride = stride
    var values = [Float](repeating: .nan, count: Self.rowLength(stride: stride) * rows)
    for j in 0..<rows {
      for i in 0..<columns {
        guard let (x, y) = camera.ray(u: Double(i) + offset, v: Double(j) + offset) else {
          continue
        }
        let at = Self.rowLength(stride: stride) * j + Self.place(ofColumn: i)
        values[at] = Float(r[0] * x + r[1] * y + r[2])
        values[at + Self.lanes] = Float(r[3] * x + r[4] * y + r[5])
        values[at + 2 * Self.lanes] = Float(r[6] * x + r[7] * y + r[8])
      }
    }
    self.values = values
  }
}

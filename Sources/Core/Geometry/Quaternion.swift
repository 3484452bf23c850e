/// A unit quaternion with `w ≥ 0`.
public struct Quaternion: Hashable, Sendable {
  public var x: Double
  public var y: Double
  public var z: Double
  public var w: Double

  /// Normalizes the components; negates all of them if `w` is below 0.
  public init(x: Double, y: Double, z: Double, w: Double) {
    let length = (x * x + y * y + z * z + w * w).squareRoot()
    let scale = (w < 0 ? -1 : 1) / length
    self.x = x * scale
    self.y = y * scale
    self.z = z * scale
    self.w = w * scale
  }

  /// The quaternion nearest to a row-major 3×3 rotation that may be off by float rounding.
  ///
  /// It is the eigenvector to the largest eigenvalue of Bar-Itzhack's symmetric 4×4 matrix (2000): that
  /// of the rotation nearest to `m`, whichever elements are off.
  public init(rotation m: [Double]) {
    self.init(largestComponentOf: m)
    // The other eigenvalues of the matrix plus one are near 0: each step of the power method divides
    // the error by the inverse of the rounding, 1e-7 for floats. Two steps reach double precision.
    for _ in 0..<2 {
      self.init(
        x: (1 + m[0] - m[4] - m[8]) * x + (m[1] + m[3]) * y + (m[2] + m[6]) * z
          + (m[7] - m[5]) * w,
        y: (m[1] + m[3]) * x + (1 - m[0] + m[4] - m[8]) * y + (m[5] + m[7]) * z
          + (m[2] - m[6]) * w,
        z: (m[2] + m[6]) * x + (m[5] + m[7]) * y + (1 - m[0] - m[4] + m[8]) * z
          + (m[3] - m[1]) * w,
        w: (m[7] - m[5]) * x + (m[2] - m[6]) * y + (m[3] - m[1]) * z
          + (1 + m[0] + m[4] + m[8]) * w)
    }
  }

  /// Computes the largest of the four components from its own diagonal sum, which avoids division
  /// by a small number. Exact for an exact rotation.
  private init(largestComponentOf m: [Double]) {
    let trace = m[0] + m[4] + m[8]
    if trace >= max(m[0], m[4], m[8]) {
      self.init(x: m[7] - m[5], y: m[2] - m[6], z: m[3] - m[1], w: 1 + trace)
    } else if m[0] >= m[4], m[0] >= m[8] {
      self.init(x: 1 + m[0] - m[4] - m[8], y: m[1] + m[3], z: m[2] + m[6], w: m[7] - m[5])
    } else if m[4] >= m[8] {
      self.init(x: m[1] + m[3], y: 1 - m[0] + m[4] - m[8], z: m[5] + m[7], w: m[2] - m[6])
    } else {
      self.init(x: m[2] + m[6], y: m[5] + m[7], z: 1 - m[0] - m[4] + m[8], w: m[3] - m[1])
    }
  }

  /// Row-major 3×3.
  public var rotation: [Double] {
    [
      1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w),
      2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
      2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y),
    ]
  }

  /// This rotation followed by another one about the axes that it has turned.
  public func then(_ q: Quaternion) -> Quaternion {
    Quaternion(
      x: w * q.x + x * q.w + y * q.z - z * q.y, y: w * q.y - x * q.z + y * q.w + z * q.x,
      z: w * q.z + x * q.y - y * q.x + z * q.w, w: w * q.w - x * q.x - y * q.y - z * q.z)
  }

  /// The rotation back.
  public var inverse: Quaternion { Quaternion(x: -x, y: -y, z: -z, w: w) }
}

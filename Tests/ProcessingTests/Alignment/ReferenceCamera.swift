@testable import Core

/// A camera in double precision written apart from the code under test: the lens equation with powers,
/// its inverse by bisection on a scan of radii and damped steps with numeric derivatives.
struct ReferenceCamera {
  let pinhole: PinholeCamera
  let lens: LensDistortion
  let limit: Double

  init(_ pinhole: PinholeCamera, _ lens: LensDistortion) {
    self.pinhole = pinhole
    self.lens = lens
    limit = Self.limit(lens)
  }

  func distorted(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
    let r2 = x * x + y * y
    let g =
      (1 + lens.k1 * r2 + lens.k2 * r2 * r2 + lens.k3 * r2 * r2 * r2)
      / (1 + lens.k4 * r2 + lens.k5 * r2 * r2 + lens.k6 * r2 * r2 * r2)
    return (
      x * g + 2 * lens.p1 * x * y + lens.p2 * (r2 + 2 * x * x),
      y * g + lens.p1 * (r2 + 2 * y * y) + 2 * lens.p2 * x * y
    )
  }

  /// Pixel position of a point in front of the camera and inside the lens.
  func project(_ q: [Double]) -> (u: Double, v: Double)? {
    guard q[2] > 0 else { return nil }
    let (x, y) = (q[0] / q[2], q[1] / q[2])
    guard x * x + y * y < limit * limit else { return nil }
    let (dx, dy) = distorted(x, y)
    let (u, v) = (pinhole.fx * dx + pinhole.cx, pinhole.fy * dy + pinhole.cy)
    return u.isFinite && v.isFinite ? (u, v) : nil
  }

  /// The ray of a pixel position, (x, y) at z = 1.
  func ray(_ u: Double, _ v: Double) -> (x: Double, y: Double)? {
    let (tx, ty) = ((u - pinhole.cx) / pinhole.fx, (v - pinhole.cy) / pinhole.fy)
    let goal = (tx * tx + ty * ty).squareRoot()
    // The radius by bisection without tangential terms, then steps along numeric derivatives.
    var (low, high) = (0.0, min(limit, 10))
    for _ in 0..<60 {
      let middle = (low + high) / 2
      if Self.radial(lens, middle) < goal { low = middle } else { high = middle }
    }
    let scale = goal > 0 ? low / goal : 0
    var (x, y) = (tx * scale, ty * scale)
    for _ in 0..<200 {
      let (dx, dy) = distorted(x, y)
      let (ex, ey) = (tx - dx, ty - dy)
      if abs(ex) + abs(ey) < 1e-10 { return x * x + y * y < limit * limit ? (x, y) : nil }
      let h = 1e-6
      let (ax, ay) = distorted(x + h, y)
      let (bx, by) = distorted(x, y + h)
      let (xx, yx, xy, yy) = ((ax - dx) / h, (ay - dy) / h, (bx - dx) / h, (by - dy) / h)
      let determinant = xx * yy - xy * yx
      guard determinant > 1e-9 else { return nil }
      x += 0.8 * (yy * ex - xy * ey) / determinant
      y += 0.8 * (xx * ey - yx * ex) / determinant
    }
    return nil
  }

  private static func radial(_ k: LensDistortion, _ r: Double) -> Double {
    let s = r * r
    return r * (1 + k.k1 * s + k.k2 * s * s + k.k3 * s * s * s)
      / (1 + k.k4 * s + k.k5 * s * s + k.k6 * s * s * s)
  }

  /// The first radius at which the radial map does not grow, by steps of 1/100,000.
  private static func limit(_ k: LensDistortion) -> Double {
    guard !k.isNone else { return .infinity }
    var last = 0.0
    for step in 1...1_000_000 {
      let r = Double(step) * 1e-5
      let s = r * r
      let value = radial(k, r)
      if value <= last || 1 + k.k4 * s + k.k5 * s * s + k.k6 * s * s * s <= 0 { return r }
      last = value
    }
    return .infinity
  }
}

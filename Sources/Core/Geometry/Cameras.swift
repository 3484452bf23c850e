/// Coefficients of a Brown–Conrady lens, five-term or rational (`k4…k6` ≠ 0); all zero is a pinhole.
///
/// With `r² = x² + y²` on the normalized plane and
/// `g = (1 + k1 r² + k2 r⁴ + k3 r⁶) / (1 + k4 r² + k5 r⁴ + k6 r⁶)`:
/// `x' = x g + 2 p1 x y + p2 (r² + 2 x²)`, `y' = y g + p1 (r² + 2 y²) + 2 p2 x y`.
public struct LensDistortion: Hashable, Sendable {
  public var k1 = 0.0
  public var k2 = 0.0
  public var p1 = 0.0
  public var p2 = 0.0
  public var k3 = 0.0
  public var k4 = 0.0
  public var k5 = 0.0
  public var k6 = 0.0

  public static let none = LensDistortion()

  public init() {}

  /// From a list in OpenCV's order `k1 k2 p1 p2 k3 k4 k5 k6`; missing ones are 0.
  public init(openCVOrder list: [Double]) {
    func at(_ i: Int) -> Double { i < list.count ? list[i] : 0 }
    (k1, k2, p1, p2) = (at(0), at(1), at(2), at(3))
    (k3, k4, k5, k6) = (at(4), at(5), at(6), at(7))
  }

  /// The coefficients in OpenCV's order.
  public var openCVOrder: [Double] { [k1, k2, p1, p2, k3, k4, k5, k6] }

  /// Whether every coefficient is 0.
  public var isNone: Bool { self == .none }

  /// Largest error of the solution, on the normalized plane (1e-8 is 1e-5 pixel at fx = 1000).
  static let solutionTolerance = 1e-8
  /// Newton steps after which a point counts as not convergent; real lenses need three to six.
  static let mostIterations = 100
  /// Longest Newton step on the normalized plane; longer ones leave the basin of wide lenses.
  static let longestStep = 0.2

  /// The point (x, y) of the normalized plane that the lens puts at (`distortedX`, `distortedY`):
  /// the inverse of `distorted(x:y:)` inside `radiusLimit`.
  ///
  /// Newton's method with the analytic Jacobian, starting at the distorted point, steps limited to
  /// 0.2 and the radius kept below `radiusLimit`, until the re-projection error is below 1e-8. `nil`
  /// when it does not converge: no point inside the limit is seen there.
  func undistorted(
    distortedX: Double, distortedY: Double, radiusLimit: Double
  ) -> (x: Double, y: Double)? {
    guard distortedX.isFinite, distortedY.isFinite else { return nil }
    if isNone { return (distortedX, distortedY) }
    var (x, y) = (distortedX, distortedY)
    var radius = (x * x + y * y).squareRoot()
    if radius >= radiusLimit {
      // Any point inside will do as a start; this one is in the right direction.
      let factor = 0.9 * radiusLimit / radius
      (x, y, radius) = (x * factor, y * factor, 0.9 * radiusLimit)
    }
    for _ in 0..<Self.mostIterations {
      let lens = distortedWithJacobian(x: x, y: y)
      let (ex, ey) = (distortedX - lens.x, distortedY - lens.y)
      if ex * ex + ey * ey < Self.solutionTolerance * Self.solutionTolerance { return (x, y) }
      let determinant = lens.xx * lens.yy - lens.xy * lens.yx
      var stepX = (lens.yy * ex - lens.xy * ey) / determinant
      var stepY = (lens.xx * ey - lens.yx * ex) / determinant
      guard stepX.isFinite, stepY.isFinite else { return nil }
      let length = (stepX * stepX + stepY * stepY).squareRoot()
      if length > Self.longestStep {
        stepX *= Self.longestStep / length
        stepY *= Self.longestStep / length
      }
      (x, y) = (x + stepX, y + stepY)
      let reached = (x * x + y * y).squareRoot()
      if reached >= radiusLimit {
        // Halfway to the limit, so that a solution close to it can still be reached.
        let kept = (radius + radiusLimit) / 2
        (x, y, radius) = (x * kept / reached, y * kept / reached, kept)
      } else {
        radius = reached
      }
    }
    return nil
  }

  /// Where the lens puts a point of the normalized plane (x = X/Z, y = Y/Z, dimensionless).
  ///
  /// Meant for r below `radiusLimit`; beyond it the polynomial folds back and the result has no
  /// meaning. At a pole of the rational term the result is not finite.
  public func distorted(x: Double, y: Double) -> (x: Double, y: Double) {
    let s = x * x + y * y
    let g = numerator(s) / denominator(s)
    return (
      x * g + 2 * p1 * x * y + p2 * (s + 2 * x * x),
      y * g + p1 * (s + 2 * y * y) + 2 * p2 * x * y
    )
  }

  /// The lens and its derivatives at a point: `x'`, `y'` and the Jacobian ∂(x', y')/∂(x, y).
  func distortedWithJacobian(
    x: Double, y: Double
  ) -> (x: Double, y: Double, xx: Double, xy: Double, yx: Double, yy: Double) {
    let s = x * x + y * y
    let n = numerator(s)
    let d = denominator(s)
    let g = n / d
    // dg/ds, then by the chain rule ∂g/∂x = 2 x dg/ds.
    let dn = k1 + s * (2 * k2 + s * 3 * k3)
    let dd = k4 + s * (2 * k5 + s * 3 * k6)
    let slope = (dn * d - n * dd) / (d * d)
    let mixed = 2 * slope * x * y + 2 * p1 * x + 2 * p2 * y
    return (
      x: x * g + 2 * p1 * x * y + p2 * (s + 2 * x * x),
      y: y * g + p1 * (s + 2 * y * y) + 2 * p2 * x * y,
      xx: g + 2 * slope * x * x + 2 * p1 * y + 6 * p2 * x,
      xy: mixed, yx: mixed,
      yy: g + 2 * slope * y * y + 6 * p1 * y + 2 * p2 * x
    )
  }

  func numerator(_ s: Double) -> Double { 1 + s * (k1 + s * (k2 + s * k3)) }
  func denominator(_ s: Double) -> Double { 1 + s * (k4 + s * (k5 + s * k6)) }

  /// Largest radius that is searched on the normalized plane: tan 84°, beyond any lens that these
  /// polynomials describe.
  static let largestSearchedRadius = 10.0

  /// The first radius r > 0 on the normalized plane at which the map r → r g stops growing or the
  /// denominator of g is no longer positive; infinite when there is none up to
  /// `largestSearchedRadius`.
  ///
  /// A point with r ≥ this limit is outside the camera: the polynomial would fold it back into the
  /// picture. With s = r², N and D the two polynomials of g, the map's slope has the sign of
  /// (N + 2 s N') D − 2 s N D', so both conditions are the first sign change of a polynomial in s, and
  /// it is found without stepping. Cost: some microseconds; compute it once per camera.
  var radiusLimit: Double {
    let n = Polynomial(coefficients: [1, k1, k2, k3])
    let d = Polynomial(coefficients: [1, k4, k5, k6])
    let twiceS = Polynomial(coefficients: [0, 2])
    let slope = (n + twiceS * n.derivative) * d + -1 * (twiceS * n * d.derivative)
    let range = 0...(Self.largestSearchedRadius * Self.largestSearchedRadius)
    let ends = [slope, d].compactMap { $0.signChanges(in: range).first }
    return ends.min()?.squareRoot() ?? .infinity
  }
}

/// A real polynomial by its coefficients, lowest power first.
struct Polynomial {
  var coefficients: [Double]

  /// The value at `x`.
  func callAsFunction(_ x: Double) -> Double {
    coefficients.reversed().reduce(0) { $0 * x + $1 }
  }

  var derivative: Polynomial {
    Polynomial(coefficients: coefficients.enumerated().dropFirst().map { Double($0) * $1 })
  }

  static func + (a: Polynomial, b: Polynomial) -> Polynomial {
    let count = max(a.coefficients.count, b.coefficients.count)
    return Polynomial(coefficients: (0..<count).map { a.coefficient($0) + b.coefficient($0) })
  }

  static func * (a: Polynomial, b: Polynomial) -> Polynomial {
    guard !a.coefficients.isEmpty, !b.coefficients.isEmpty else {
      return Polynomial(coefficients: [])
    }
    var product = [Double](repeating: 0, count: a.coefficients.count + b.coefficients.count - 1)
    for (i, x) in a.coefficients.enumerated() {
      for (j, y) in b.coefficients.enumerated() { product[i + j] += x * y }
    }
    return Polynomial(coefficients: product)
  }

  static func * (factor: Double, a: Polynomial) -> Polynomial {
    Polynomial(coefficients: a.coefficients.map { factor * $0 })
  }

  private func coefficient(_ power: Int) -> Double {
    power < coefficients.count ? coefficients[power] : 0
  }

  /// The positions in `range` where the sign changes, ascending, to the last bit of a double.
  ///
  /// Between neighboring roots of its derivative a polynomial is monotone, so it changes sign at
  /// most once there, and bisection finds it. The derivative's roots come from the same rule one
  /// degree lower. Unlike a scan in steps, this misses no root. A root without a change of sign is
  /// not reported.
  func signChanges(in range: ClosedRange<Double>) -> [Double] {
    guard coefficients.dropFirst().contains(where: { $0 != 0 }) else { return [] }
    let bends = derivative.signChanges(in: range)
    let corners = [range.lowerBound] + bends + [range.upperBound]
    return zip(corners, corners.dropFirst()).compactMap { root(between: $0, and: $1) }
  }

  private func root(between low: Double, and high: Double) -> Double? {
    var (low, high) = (low, high)
    let lowIsPositive = self(low) > 0
    guard lowIsPositive != (self(high) > 0) else { return nil }
    while true {
      let middle = low + (high - low) / 2
      guard low < middle, middle < high else { return high }
      if (self(middle) > 0) == lowIsPositive { low = middle } else { high = middle }
    }
  }
}

/// Intrinsics of a camera: size and pinhole parameters in pixels.
///
/// Pixel centers are at integers: the center of the top-left pixel is (0, 0) and the picture covers
/// −0.5 … width − 0.5. Axes: x right, y down, z forward.
public struct PinholeCamera: Hashable, Sendable, Codable {
  public var width: Int
  public var height: Int
  public var fx: Double
  public var fy: Double
  public var cx: Double
  public var cy: Double

  public init(width: Int, height: Int, fx: Double, fy: Double, cx: Double, cy: Double) {
    self.width = width
    self.height = height
    self.fx = fx
    self.fy = fy
    self.cx = cx
    self.cy = cy
  }

  /// The camera with pictures of another size, outer borders unchanged (the half-pixel rule): `fx' = fx·sx`, `cx' = (cx
  /// + 0.5)·sx − 0.5`, each axis with its own scale.
  public func scaled(toWidth newWidth: Int, height newHeight: Int) -> PinholeCamera {
    let sx = Double(newWidth) / Double(width)
    let sy = Double(newHeight) / Double(height)
    return PinholeCamera(
      width: newWidth, height: newHeight, fx: fx * sx, fy: fy * sy,
      cx: (cx + 0.5) * sx - 0.5, cy: (cy + 0.5) * sy - 0.5)
  }

  /// The largest distance, along x or y, between the places of one ray in the pictures of two cameras of
  /// one size, pixels: that of a ray at the border.
  public func largestOffset(from other: PinholeCamera) -> Double {
    func offset(_ place: Double, _ f: Double, _ c: Double, _ otherF: Double, _ otherC: Double)
      -> Double
    {
      abs((place - c) / f * otherF + otherC - place)
    }
    return max(
      offset(-0.5, fx, cx, other.fx, other.cx),
      offset(Double(width) - 0.5, fx, cx, other.fx, other.cx),
      offset(-0.5, fy, cy, other.fy, other.cy),
      offset(Double(height) - 0.5, fy, cy, other.fy, other.cy))
  }

  /// The intrinsics of the picture after turning it clockwise by `quarterTurns` × 90°.
  public func turnedClockwise(quarterTurns: Int) -> PinholeCamera {
    let w = Double(width - 1)
    let h = Double(height - 1)
    switch quarterTurns.withinFullTurn {
    case 1: return PinholeCamera(width: height, height: width, fx: fy, fy: fx, cx: h - cy, cy: cx)
    case 2:
      return PinholeCamera(width: width, height: height, fx: fx, fy: fy, cx: w - cx, cy: h - cy)
    case 3: return PinholeCamera(width: height, height: width, fx: fy, fy: fx, cx: cy, cy: w - cx)
    default: return self
    }
  }

  /// This camera for pictures of `width` × `height`: unchanged if that is its size, rescaled by the
  /// half-pixel rule if the aspects agree within 1 %, else `nil`.
  public func fitted(toWidth newWidth: Int, height newHeight: Int) -> PinholeCamera? {
    if (newWidth, newHeight) == (width, height) { return self }
    let sx = Double(newWidth) / Double(width)
    let sy = Double(newHeight) / Double(height)
    guard abs(sx / sy - 1) <= 0.01 else { return nil }
    return scaled(toWidth: newWidth, height: newHeight)
  }
}

/// Width and height of a picture in pixels.
public struct PictureSize: Hashable, Sendable, CustomStringConvertible {
  public var width: Int
  public var height: Int

  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  package init(_ camera: PinholeCamera) {
    self.init(width: camera.width, height: camera.height)
  }

  /// The size after a quarter turn.
  public var turned: PictureSize { PictureSize(width: height, height: width) }

  public var description: String { "\(width)×\(height)" }
}

/// A camera with its lens: pinhole intrinsics, distortion, and the radius up to which the lens
/// polynomial describes the lens.
///
/// Camera axes x right, y down, z forward; pixel centers at integers.
public struct LensCamera: Hashable, Sendable {
  public let pinhole: PinholeCamera
  public let distortion: LensDistortion
  /// Radius on the normalized plane; infinite for a pinhole. See `LensDistortion.radiusLimit`.
  public let radiusLimit: Double
}

extension LensCamera {
  /// Cost: that of `LensDistortion.radiusLimit`.
  public init(pinhole: PinholeCamera, distortion: LensDistortion = .none) {
    self.pinhole = pinhole
    self.distortion = distortion
    radiusLimit = distortion.isNone ? .infinity : distortion.radiusLimit
  }

  /// The lens with other intrinsics. Cost: none, where `init` searches the radius limit.
  public func with(_ pinhole: PinholeCamera) -> LensCamera {
    LensCamera(pinhole: pinhole, distortion: distortion, radiusLimit: radiusLimit)
  }

  /// The camera with pictures of another size; the picture's outer borders stay, lens coefficients do not change.
  public func scaled(toWidth width: Int, height: Int) -> LensCamera {
    LensCamera(pinhole: pinhole.scaled(toWidth: width, height: height), distortion: distortion)
  }

  /// The pixel position of a point in camera coordinates (any unit); it may lie outside the picture.
  ///
  /// `nil` for a point that is not in front of the camera (z ≤ 0), at or beyond the radius limit, or
  /// without a finite position.
  public func projection(x: Double, y: Double, z: Double) -> (u: Double, v: Double)? {
    guard z > 0 else { return nil }
    let (nx, ny) = (x / z, y / z)
    guard (nx * nx + ny * ny).squareRoot() < radiusLimit else { return nil }
    let lens = distortion.distorted(x: nx, y: ny)
    let u = pinhole.fx * lens.x + pinhole.cx
    let v = pinhole.fy * lens.y + pinhole.cy
    return u.isFinite && v.isFinite ? (u, v) : nil
  }

  /// The ray through a pixel position as (x, y) of its point at z = 1; `nil` where the lens has no
  /// ray. Cost: three to six Newton steps with a distorted lens.
  public func ray(u: Double, v: Double) -> (x: Double, y: Double)? {
    distortion.undistorted(
      distortedX: (u - pinhole.cx) / pinhole.fx, distortedY: (v - pinhole.cy) / pinhole.fy,
      radiusLimit: radiusLimit)
  }

  /// Points along each side of the picture at which its outline is measured, as OpenCV does.
  private static let outlinePoints = 9

  /// The pinhole of an undistorted picture of the same size, as OpenCV's `getOptimalNewCameraMatrix`
  /// chooses it.
  ///
  /// - Parameter alpha: 0 shows the largest upright rectangle in which every pixel has a source, 1 the
  ///   smallest that contains the whole source; values between mix the two intrinsics linearly.
  /// - Returns: `nil` if the lens has no ray at the border, or no rectangle lies inside the outline.
  ///
  /// Cost: 81 lens inversions.
  func undistortedPinhole(alpha: Double) -> PinholeCamera? {
    guard pinhole.width > 1, pinhole.height > 1 else { return nil }
    let last = Self.outlinePoints - 1
    let (w, h) = (Double(pinhole.width - 1), Double(pinhole.height - 1))
    var inner = (
      x0: -Double.infinity, y0: -Double.infinity, x1: Double.infinity, y1: Double.infinity
    )
    var outer = (
      x0: Double.infinity, y0: Double.infinity, x1: -Double.infinity, y1: -Double.infinity
    )
    for row in 0...last {
      for column in 0...last {
        guard let ray = ray(u: Double(column) * w / Double(last), v: Double(row) * h / Double(last))
        else { return nil }
        outer = (
          min(outer.x0, ray.x), min(outer.y0, ray.y), max(outer.x1, ray.x), max(outer.y1, ray.y)
        )
        if column == 0 { inner.x0 = max(inner.x0, ray.x) }
        if column == last { inner.x1 = min(inner.x1, ray.x) }
        if row == 0 { inner.y0 = max(inner.y0, ray.y) }
        if row == last { inner.y1 = min(inner.y1, ray.y) }
      }
    }
    guard inner.x1 > inner.x0, inner.y1 > inner.y0 else { return nil }
    func mixed(_ ofInner: Double, _ ofOuter: Double) -> Double {
      ofInner * (1 - alpha) + ofOuter * alpha
    }
    let (fx0, fy0) = (w / (inner.x1 - inner.x0), h / (inner.y1 - inner.y0))
    let (fx1, fy1) = (w / (outer.x1 - outer.x0), h / (outer.y1 - outer.y0))
    let found = PinholeCamera(
      width: pinhole.width, height: pinhole.height, fx: mixed(fx0, fx1), fy: mixed(fy0, fy1),
      cx: mixed(0 - fx0 * inner.x0, 0 - fx1 * outer.x0),
      cy: mixed(0 - fy0 * inner.y0, 0 - fy1 * outer.y0))
    return [found.fx, found.fy, found.cx, found.cy].allSatisfy(\.isFinite) ? found : nil
  }

  /// This camera for pictures turned clockwise by `quarterTurns` × 90°.
  public func turnedClockwise(quarterTurns: Int) -> LensCamera {
    LensCamera(
      pinhole: pinhole.turnedClockwise(quarterTurns: quarterTurns),
      distortion: distortion.turnedClockwise(quarterTurns: quarterTurns))
  }
}

extension LensDistortion {
  /// The lens of the picture after a clockwise turn: the tangential terms are a vector and turn along.
  public func turnedClockwise(quarterTurns: Int) -> LensDistortion {
    (0..<quarterTurns.withinFullTurn).reduce(self) { lens, _ in
      var turned = lens
      // (p2, p1) is the vector along (x, y); a clockwise turn makes x' = -y, y' = x.
      (turned.p2, turned.p1) = (0 - lens.p1, lens.p2)
      return turned
    }
  }
}

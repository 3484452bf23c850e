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
    let turns = ((quarterTurns % 4) + 4) % 4
    return (0..<turns).reduce(self) { lens, _ in
      var turned = lens
      // (p2, p1) is the vector along (x, y); a clockwise turn makes x' = -y, y' = x.
      (turned.p2, turned.p1) = (0 - lens.p1, lens.p2)
      return turned
    }
  }
}

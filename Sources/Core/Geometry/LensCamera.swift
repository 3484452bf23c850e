/// A camera with its lens: pinhole intrinsics, distortion, and the radius up to which the lens
/// polynomial describes the lens.
///
/// Camera axes x right, y down, z forward; pixel centers at integers.
public struct LensCamera: Hashable, Sendable {
  public let pinhole: PinholeCamera
  public let distortion: LensDistortion
  /// Radius on the normalized plane; infinite for a pinhole. See `LensDistortion.radiusLimit`.
  public let radiusLimit: Double

  /// Cost: that of `LensDistortion.radiusLimit`.
  public init(pinhole: PinholeCamera, distortion: LensDistortion = .none) {
    self.pinhole = pinhole
    self.distortion = distortion
    radiusLimit = distortion.isNone ? .infinity : distortion.radiusLimit
  }

  /// The lens with other intrinsics. Cost: none, where `init` searches the radius limit.
  public func with(_ pinhole: PinholeCamera) -> LensCamera {
    LensCamera(pinhole, distortion, radiusLimit: radiusLimit)
  }

  private init(_ pinhole: PinholeCamera, _ distortion: LensDistortion, radiusLimit: Double) {
    self.pinhole = pinhole
    self.distortion = distortion
    self.radiusLimit = radiusLimit
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
}

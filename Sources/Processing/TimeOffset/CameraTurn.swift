import Core
import Glibc

/// How fast a camera turned between two neighboring frames.
public struct CameraTurn: Hashable, Sendable {
  /// Times of the two frames on the clock of the pictures.
  public var start: Timestamp
  public var end: Timestamp
  /// Mean angular velocity in axes of the camera, rad/s.
  public var rate: SIMD3<Double>

  /// `nil` unless `end` is after `start` and all is finite.
  init?(start: Timestamp, end: Timestamp, rate: SIMD3<Double>) {
    guard end > start, (rate * rate).sum().isFinite else { return nil }
    self.start = start
    self.end = end
    self.rate = rate
  }

  /// From the poses of two frames; `nil` likewise.
  public init?(from pose: Pose, at start: Timestamp, to other: Pose, at end: Timestamp) {
    guard end > start else { return nil }
    let seconds = Double(end - start) / 1e9
    self.init(start: start, end: end, rate: pose.rotationVector(to: other) / seconds)
  }

  public var seconds: Double { Double(end - start) / 1e9 }
}

extension Pose {
  /// The rotation from this pose to another, in axes of the camera: axis times angle in radians, by the
  /// shorter way.
  func rotationVector(to other: Pose) -> SIMD3<Double> {
    let (a, b) = (orientation, other.orientation)
    // a⁻¹ · b
    var w = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z
    var v = SIMD3(
      a.w * b.x - a.x * b.w - a.y * b.z + a.z * b.y,
      a.w * b.y + a.x * b.z - a.y * b.w - a.z * b.x,
      a.w * b.z - a.x * b.y + a.y * b.x - a.z * b.w)
    if w < 0 { (w, v) = (-w, -v) }
    let length = (v * v).sum().squareRoot()
    // The quaternions need not be normalized. The angle over its sine is 2 for small ones.
    return length > 1e-12 * w ? v * (2 * atan2(length, w) / length) : v * (2 / max(w, 1e-300))
  }
}

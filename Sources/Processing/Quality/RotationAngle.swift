import Core
import Glibc

/// The angle of a rotation, accurate for small ones.
enum RotationAngle {
  /// The angle of the rotation of a quaternion, which need not be normalized: degrees, 0…180.
  static func degrees(w: Double, x: Double, y: Double, z: Double) -> Double {
    2 * atan2((x * x + y * y + z * z).squareRoot(), abs(w)) * 180 / .pi
  }
}

extension Pose {
  /// The angle by which the camera turned from this pose to another: degrees, 0…180.
  public func rotationDegrees(to other: Pose) -> Double {
    let (a, b) = (orientation, other.orientation)
    // a⁻¹ · b
    return RotationAngle.degrees(
      w: a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z,
      x: a.w * b.x - a.x * b.w - a.y * b.z + a.z * b.y,
      y: a.w * b.y + a.x * b.z - a.y * b.w - a.z * b.x,
      z: a.w * b.z - a.x * b.y + a.y * b.x - a.z * b.w)
  }
}

/// Position and orientation of a camera: camera to world, OpenCV camera axes (x right, y down, z
/// forward), the world frame of the app, meters.
public struct Pose: Hashable, Sendable {
  /// Position in the world frame: x, y, z in meters.
  public var position: [Double]
  public var orientation: Quaternion

  public init(position: [Double], orientation: Quaternion) {
    self.position = position
    self.orientation = orientation
  }

  /// From a column-major 4×4 in ARKit camera axes (x right, y up, z toward the viewer), as the iOS
  /// and ARCore loggers write it: the second and third axis are negated, the position stays.
  ///
  /// Divides by element 15 unless it is exactly 1. `nil` unless there are sixteen finite numbers
  /// with a usable element 15, zeros at 3, 7 and 11, and a rotation.
  public init?(arkitColumnMajor m: [Double]) {
    guard m.count == 16, m.allSatisfy(\.isFinite), m[15] != 0 else { return nil }
    let t = m[15] == 1 ? m : m.map { $0 / m[15] }
    // Elements other than 0 here mean a row-major matrix or one that is no rigid motion.
    guard [t[3], t[7], t[11]].allSatisfy({ abs($0) < 1e-3 }) else { return nil }
    self.init(
      rotation: [t[0], -t[4], -t[8], t[1], -t[5], -t[9], t[2], -t[6], -t[10]],
      position: [t[12], t[13], t[14]])
  }

  /// From a row-major 3×3 rotation and a position. `nil` when a number is not finite, or when the
  /// rotation is degenerate or mirrored: a quaternion has no mirror image.
  public init?(rotation: [Double], position: [Double]) {
    guard rotation.count == 9, position.count == 3 else { return nil }
    guard rotation.allSatisfy(\.isFinite), position.allSatisfy(\.isFinite) else { return nil }
    guard RigidTransform(rotation: rotation, translation: position).determinant > 0 else {
      return nil
    }
    let orientation = Quaternion(rotation: rotation)
    guard orientation.w.isFinite else { return nil }
    self.init(position: position, orientation: orientation)
  }

  /// The pose of the camera after its picture is turned clockwise by `quarterTurns` × 90°: same
  /// position and optical axis, x and y rotated about it. Goes with
  /// `PinholeCamera.turnedClockwise`.
  public func turnedClockwise(quarterTurns: Int) -> Pose {
    let half = 0.5.squareRoot()
    // Half the angle by which the axes rotate about z.
    let (s, c): (Double, Double)
    switch ((quarterTurns % 4) + 4) % 4 {
    case 1: (s, c) = (-half, half)
    case 2: (s, c) = (-1, 0)
    case 3: (s, c) = (half, half)
    default: return self
    }
    let q = orientation
    return Pose(
      position: position,
      orientation: Quaternion(
        x: q.x * c + q.y * s, y: q.y * c - q.x * s, z: q.z * c + q.w * s, w: q.w * c - q.z * s))
  }

  /// Camera coordinates to world coordinates.
  public var worldFromCamera: RigidTransform {
    RigidTransform(rotation: orientation.rotation, translation: position)
  }
}

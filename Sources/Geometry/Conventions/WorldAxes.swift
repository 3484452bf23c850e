/// Which axis points up in the world frame of an export.
public enum WorldUp: String, Hashable, Sendable, CaseIterable {
  /// The app's own axes.
  case app
  /// z is up.
  case z
}

/// Rotations between world frames.
public enum WorldAxes {
  /// From a world with y up (ARKit, ARCore) to one with z up: new x = old z, new y = old x, new z =
  /// old y. Applied from the left: a pose M becomes U·M, a point X becomes U·X.
  public static let zUpFromYUp = RigidTransform(
    rotation: [0, 0, 1, 1, 0, 0, 0, 1, 0], translation: [0, 0, 0])

  /// From the app's world to that of an export.
  ///
  /// - Parameter isYUp: whether y is up in the app's world; if not, z is, and nothing is rotated.
  public static func worldFromApp(_ up: WorldUp, isYUp: Bool = true) -> RigidTransform {
    up == .z && isYUp ? zUpFromYUp : .identity
  }
}

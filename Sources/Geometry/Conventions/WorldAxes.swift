/// Which way is up in the world that an export is written in.
public enum WorldUp: String, Hashable, Sendable, CaseIterable {
  /// The app's own axes.
  case app
  /// z is up.
  case z
}

/// Turns between the axes of worlds.
public enum WorldAxes {
  /// Coordinates of a world with y up (ARKit, ARCore) to one with z up: new x = old z, new y = old x,
  /// new z = old y. From the left: poses M become U·M, points X become U·X.
  public static let zUpFromYUp = RigidTransform(
    rotation: [0, 0, 1, 1, 0, 0, 0, 1, 0], translation: [0, 0, 0])

  /// From the app's world to that of an export.
  ///
  /// - Parameter isYUp: whether y is up in the app's world; where it is not, z is, and nothing is turned.
  public static func worldFromApp(_ up: WorldUp, isYUp: Bool = true) -> RigidTransform {
    up == .z && isYUp ? zUpFromYUp : .identity
  }
}

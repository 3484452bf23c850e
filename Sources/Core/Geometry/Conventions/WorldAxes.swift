/// Which axis points up in the world frame of an export.
public enum WorldUp: String, Hashable, Sendable, CaseIterable {
  /// The app's own axes.
  case app
  /// z is up.
  case z
}

/// Which way is up in the world of a capture's poses.
public enum PoseWorld: String, Hashable, Sendable {
  /// y, as ARKit and ARCore define their worlds.
  case yUp = "y-up"
  /// z, as in published scenes, whose world is that of their mesh.
  case zUp = "z-up"
  /// The axes are those of the first camera, held in any way: up is not known.
  case firstCamera = "first-camera"
}

/// Rotations between world frames.
public enum WorldAxes {
  /// From a world with y up (ARKit, ARCore) to one with z up: new x = old z, new y = old x, new z =
  /// old y. Applied from the left: a pose M becomes U·M, a point X becomes U·X.
  static let zUpFromYUp = RigidTransform(
    rotation: [0, 0, 1, 1, 0, 0, 0, 1, 0], translation: [0, 0, 0])

  /// From the app's world to that of an export.
  ///
  /// A world whose z is up, and one of which it is not known what is up, are not rotated.
  public static func worldFromApp(_ up: WorldUp, of world: PoseWorld = .yUp) -> RigidTransform {
    up == .z && world == .yUp ? zUpFromYUp : .identity
  }
}

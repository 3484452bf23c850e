/// Where the color camera is at one instant and how it moves.
///
/// The world has y up, meters; the camera's axes are x right, y down, z forward.
struct MotionState: Sendable {
  /// Seconds since the first frame.
  var time: Double
  var position: Vector3
  /// World axes, m/s and m/s².
  var velocity: Vector3
  var acceleration: Vector3
  var worldFromCamera: Matrix3
  /// Camera axes, rad/s.
  var angularVelocity: Vector3

  /// The viewpoint of a camera that is fixed to this one.
  func viewpoint(_ mount: CameraMount = .color) -> Viewpoint {
    Viewpoint(
      position: position + worldFromCamera * mount.position,
      worldFromCamera: worldFromCamera * mount.colorFromCamera)
  }
}

/// A camera's place in the world: `world = worldFromCamera · p + position`.
struct Viewpoint: Sendable {
  var position: Vector3
  var worldFromCamera: Matrix3
}

/// How a camera sits on the device, seen from the color camera, meters.
struct CameraMount: Sendable, Hashable {
  var colorFromCamera: Matrix3
  var position: Vector3

  static let color = CameraMount(colorFromCamera: .identity, position: .zero)
}

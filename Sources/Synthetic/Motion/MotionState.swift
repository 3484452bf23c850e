/// Position and motion of the color camera at one time.
///
/// World: y up, meters. Camera axes: x right, y down, z forward.
struct MotionState: Sendable {
  /// Seconds since the first frame.
  var time: Double
  var position: Vector3
  /// In world axes, m/s and m/s².
  var velocity: Vector3
  var acceleration: Vector3
  var worldFromCamera: Matrix3
  /// In camera axes, rad/s.
  var angularVelocity: Vector3

  /// The viewpoint of a camera that is mounted on this one.
  func viewpoint(_ mount: CameraMount = .color) -> Viewpoint {
    Viewpoint(
      position: position + worldFromCamera * mount.position,
      worldFromCamera: worldFromCamera * mount.colorFromCamera)
  }
}

/// Position and orientation of a camera: `world = worldFromCamera · p + position`.
struct Viewpoint: Sendable {
  var position: Vector3
  var worldFromCamera: Matrix3
}

/// Mounting of a camera on the device relative to the color camera, meters.
struct CameraMount: Sendable, Hashable {
  var colorFromCamera: Matrix3
  var position: Vector3

  static let color = CameraMount(colorFromCamera: .identity, position: .zero)
}

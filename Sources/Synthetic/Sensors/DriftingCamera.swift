import Core

/// A color camera whose autofocus changes the focal length a little from frame to frame.
struct DriftingCamera {
  private let atRest: PinholeCamera
  private let phase: Double

  init(_ camera: PinholeCamera, seed: UInt64) {
    atRest = camera
    var random = SeededRandom(seed: seed, "autofocus")
    phase = random.uniform(0...(2 * Trigonometry.pi))
  }

  /// The parameters of a frame in single precision, as the apps store them.
  func camera(_ frame: Int) -> PinholeCamera {
    var camera = atRest
    let turn = Trigonometry.sine(Double(frame) * 0.11 + phase)
    let focal = Double(Float(camera.fx * (1 + 0.0006 * turn)))
    camera.fx = focal
    camera.fy = focal
    camera.cx = Double(Float(camera.cx + 0.4 * turn))
    camera.cy = Double(Float(camera.cy - 0.25 * turn))
    return camera
  }

  /// Nine numbers, column-major: `fx 0 0 0 fy 0 cx cy 1`.
  static func columnMajor(_ camera: PinholeCamera) -> [Double] {
    [camera.fx, 0, 0, 0, camera.fy, 0, camera.cx, camera.cy, 1]
  }
}

extension MotionState {
  /// Camera to world as ARKit stores it: column-major, single precision, camera axes x right, y up,
  /// z toward the viewer.
  func arkitTransform(shiftedBy shift: Vector3 = .zero) -> [Float] {
    let turn = worldFromCamera
    let place = position + shift
    let columns = [turn.x, turn.y * -1, turn.z * -1]
    return columns.flatMap { [Float($0.x), Float($0.y), Float($0.z), 0] }
      + [Float(place.x), Float(place.y), Float(place.z), 1]
  }
}

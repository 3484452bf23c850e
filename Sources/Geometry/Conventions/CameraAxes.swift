/// How other tools state what `Pose` states: which way round, and along which camera axes.
///
/// `Pose` is camera to world along OpenCV axes (x right, y down, z forward). Nothing here transposes:
/// conventions differ by the inverse and by the negated columns.
extension Pose {
  /// World coordinates to camera coordinates, OpenCV axes: COLMAP's direction.
  public var cameraFromWorld: RigidTransform { worldFromCamera.inverse }

  /// The rotation of `cameraFromWorld`: the conjugate of the pose's quaternion, w ≥ 0 as it was.
  public var cameraFromWorldOrientation: Quaternion { orientation.conjugate }

  /// Camera to world for a camera with OpenGL axes (x right, y up, z toward the viewer): columns 2 and 3
  /// negated, the position as it is. nerfstudio's and Blender's convention.
  public var worldFromOpenGLCamera: RigidTransform {
    worldFromCamera * CameraAxes.openCVFromOpenGL
  }
}

/// Turns between the axes of cameras.
public enum CameraAxes {
  /// Coordinates along OpenGL axes to coordinates along OpenCV axes: y and z change their sign. It is its own
  /// inverse.
  public static let openCVFromOpenGL = RigidTransform(
    rotation: [1, 0, 0, 0, -1, 0, 0, 0, -1], translation: [0, 0, 0])

  /// Coordinates of the camera of a stored picture to those of the camera of the picture turned clockwise by
  /// so many quarter turns: the same place and optical axis; one turn makes x' = -y, y' = x. Goes with
  /// `PinholeCamera.turnedClockwise`.
  public static func turnedFromStored(clockwiseQuarterTurns: Int) -> RigidTransform {
    let rotation: [Double] =
      switch ((clockwiseQuarterTurns % 4) + 4) % 4 {
      case 1: [0, -1, 0, 1, 0, 0, 0, 0, 1]
      case 2: [-1, 0, 0, 0, -1, 0, 0, 0, 1]
      case 3: [0, 1, 0, -1, 0, 0, 0, 0, 1]
      default: [1, 0, 0, 0, 1, 0, 0, 0, 1]
      }
    return RigidTransform(rotation: rotation, translation: [0, 0, 0])
  }
}

extension Quaternion {
  /// The opposite rotation. No 0 becomes -0.
  public var conjugate: Quaternion { Quaternion(x: 0 - x, y: 0 - y, z: 0 - z, w: w) }
}

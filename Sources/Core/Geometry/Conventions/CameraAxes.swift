/// Camera poses in the conventions of other tools: direction (camera to world or world to camera)
/// and camera axes.
///
/// `Pose` is camera to world along OpenCV axes (x right, y down, z forward). Nothing here
/// transposes: conventions differ by the inverse and by negated columns.
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

/// Rotations between conventions for camera axes.
public enum CameraAxes {
  /// From OpenGL axes to OpenCV axes: y and z change their sign. It is its own inverse.
  static let openCVFromOpenGL = RigidTransform(
    rotation: [1, 0, 0, 0, -1, 0, 0, 0, -1], translation: [0, 0, 0])

  /// From camera coordinates of the stored picture to those of the picture turned clockwise by this
  /// many quarter turns: same position and optical axis; one turn makes x' = -y, y' = x. Goes with
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
  /// The opposite rotation. A component of 0 stays 0 and does not become -0.
  var conjugate: Quaternion { Quaternion(x: 0 - x, y: 0 - y, z: 0 - z, w: w) }
}

/// Camera poses in the conventions of other tools: direction (camera to world or world to camera)
/// and camera axes.
///
/// `Pose` is camera to world along OpenCV axes (x right, y down, z forward). Nothing here
/// transposes: conventions differ by the inverse and by negated columns.
extension Pose {
  /// World coordinates to camera coordinates, OpenCV axes: COLMAP's direction.
  public var cameraFromWorld: RigidTransform { worldFromCamera.inverse }

  /// The rotation of `cameraFromWorld`: the conjugate of the pose's quaternion, w ≥ 0 as it was.
  public var cameraFromWorldOrientation: Quaternion { orientation.inverse }

  /// Camera to world for a camera with OpenGL axes (x right, y up, z toward the viewer): columns 2 and 3
  /// negated, the position as it is. nerfstudio's and Blender's convention.
  public var worldFromOpenGLCamera: RigidTransform {
    worldFromCamera * .openCVFromOpenGL
  }
}

// Rotations between conventions for camera axes.

extension RigidTransform {
  /// From OpenGL axes to OpenCV axes: y and z change their sign. It is its own inverse.
  static let openCVFromOpenGL = RigidTransform(
    rotation: [1, 0, 0, 0, -1, 0, 0, 0, -1], translation: [0, 0, 0])

  /// From camera coordinates of the stored picture to those of the picture turned clockwise by this
  /// many quarter turns: same position and optical axis; one turn makes x' = -y, y' = x. Goes with
  /// `PinholeCamera.turnedClockwise`.
  public static func turnedFromStored(clockwiseQuarterTurns: Int) -> RigidTransform {
    let rotation: [Double] =
      switch clockwiseQuarterTurns.withinFullTurn {
      case 1: [0, -1, 0, 1, 0, 0, 0, 0, 1]
      case 2: [-1, 0, 0, 0, -1, 0, 0, 0, 1]
      case 3: [0, 1, 0, -1, 0, 0, 0, 0, 1]
      default: [1, 0, 0, 0, 1, 0, 0, 0, 1]
      }
    return RigidTransform(rotation: rotation, translation: [0, 0, 0])
  }
}

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

// Rotations between world frames.

extension RigidTransform {
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

// Orientation of a phone's back camera relative to its inertial sensors.
//
// Device axes: x right, y up along the screen held in portrait, z out of the screen. Camera axes
// are OpenCV's, of the picture as it is displayed. The lever arm is unknown and taken as 0.

extension RigidTransform {
  /// p_imu = R · p_cam.
  ///
  /// - Parameter clockwiseQuarterTurns: the turn that was applied to the stored landscape picture; 1 is
  ///   portrait, upright.
  public static func imuFromCamera(clockwiseQuarterTurns: Int) -> RigidTransform {
    (0..<clockwiseQuarterTurns.withinFullTurn).reduce(imuFromStoredCamera) { transform, _ in
      transform * storedFromTurned
    }
  }

  /// The inverse: p_cam = Rᵀ · p_imu.
  public static func cameraFromIMU(clockwiseQuarterTurns: Int) -> RigidTransform {
    // The lever arm is 0: without a sum of products no 0 becomes -0.
    RigidTransform(
      rotation: imuFromCamera(clockwiseQuarterTurns: clockwiseQuarterTurns).inverse.rotation,
      translation: [0, 0, 0])
  }

  /// For the stored landscape picture of the back camera.
  private static let imuFromStoredCamera = RigidTransform(
    rotation: [0, -1, 0, -1, 0, 0, 0, 0, -1], translation: [0, 0, 0])
  /// One clockwise quarter turn of the picture: from the turned camera to the camera before.
  private static let storedFromTurned = RigidTransform(
    rotation: [0, 1, 0, -1, 0, 0, 0, 0, 1], translation: [0, 0, 0])
}

extension Pose {
  /// The pose of the body (IMU): worldFromIMU = worldFromCamera · cameraFromIMU.
  public func worldFromIMU(cameraFromIMU: RigidTransform) -> Pose {
    let body = worldFromCamera * cameraFromIMU
    return Pose(position: body.translation, orientation: Quaternion(rotation: body.rotation))
  }
}

extension PinholeCamera {
  /// The principal point counted from the outer corner of the corner pixel (COLMAP, nerfstudio) rather than from that
  /// pixel's center (this project's tables, OpenCV), in pixels.
  public var cornerPrincipalPoint: (x: Double, y: Double) { (cx + 0.5, cy + 0.5) }

  /// The 4×4 matrix of datasets, row-major: fx 0 cx 0 / 0 fy cy 0 / 0 0 1 0 / 0 0 0 1.
  public var rowMajor4x4: [Double] {
    [fx, 0, cx, 0, 0, fy, cy, 0, 0, 0, 1, 0, 0, 0, 0, 1]
  }

  /// The 3×3 matrix, row-major.
  public var rowMajor3x3: [Double] { [fx, 0, cx, 0, fy, cy, 0, 0, 1] }

  /// The 3×3 matrix, column-major, as Open3D's `intrinsic_matrix` lists it.
  public var columnMajor3x3: [Double] { [fx, 0, 0, 0, fy, 0, cx, cy, 1] }

  /// The 3×4 projection of a picture that was not rectified, row-major: ROS's P.
  public var projection3x4: [Double] { [fx, 0, cx, 0, 0, fy, cy, 0, 0, 0, 1, 0] }
}

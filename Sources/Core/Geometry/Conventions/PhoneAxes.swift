/// Orientation of a phone's back camera relative to its inertial sensors.
///
/// Device axes: x right, y up along the screen held in portrait, z out of the screen. Camera axes
/// are OpenCV's, of the picture as it is displayed. The lever arm is unknown and taken as 0.
public enum PhoneAxes {
  /// p_imu = R · p_cam.
  ///
  /// - Parameter clockwiseQuarterTurns: the turn that was applied to the stored landscape picture; 1 is
  ///   portrait, upright.
  public static func imuFromCamera(clockwiseQuarterTurns: Int) -> RigidTransform {
    let turns = ((clockwiseQuarterTurns % 4) + 4) % 4
    return (0..<turns).reduce(imuFromStoredCamera) { transform, _ in transform * storedFromTurned }
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

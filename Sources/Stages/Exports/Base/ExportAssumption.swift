/// Something in an export, or left out of it, that was not measured. The raw values appear in
/// `assumed` of `export.json`.
enum ExportAssumption: String, CaseIterable {
  // Times and pairing.
  /// Times are computed from a rate.
  case times
  /// Times are those of the video's container.
  case timesOfVideo
  /// Unknown times are written as 0.
  case unknownTimes
  /// Depth pictures get the times of the color pictures.
  case depthTimes
  /// The correspondence of pictures, depth, poses and times.
  case pairing

  // Poses and world.
  /// The identity is written in place of poses.
  case poses
  /// Which axis of the world points up, if the export turns it.
  case worldUp

  // Inertial samples.
  /// Specific force is a sum of values that the phone computed.
  case gravity
  /// Whether acceleration is specific force or its negative.
  case accelerationSign
  /// Acceleration is interpolated at the times of the gyroscope.
  case acceleration
  /// Times of samples are spread between stamps that lost digits.
  case sampleTimes
  /// Samples near frames are used as samples at frames.
  case nearestSamples
  /// Zeros are written in place of sensors.
  case missingSensors
  case timeOffset
  case imuFromCameraTranslation
  case imuFromCameraRotation
  /// Noise densities are not written.
  case noise
  case covariances
  case velocity
  case gyroscopeBias
  case accelerometerBias

  // Cameras and depth.
  /// A file replaces the capture's own cameras.
  case calibration
  /// A file replaces the capture's own cameras in the alignment of depth.
  case alignedCalibration
  /// One statement of the app is used for all frames.
  case intrinsics
  case rescaledIntrinsics
  /// The median is used for frames without intrinsics.
  case intrinsicsOfOthers
  case distortion
  /// Depth and color are taken to be one camera.
  case registration
  case depthSize
  /// Depth on the color grid is interpolated between the depth camera's pixels.
  case alignedDepth
  /// 0 is written in place of confidence that was not recorded.
  case confidence

  // Positions.
  /// Altitude is not written.
  case altitude
  case timesOfDay
  case interpolatedPositions
  case heldPositions

  /// Whether a default is written. Otherwise the export lacks the value, which only `README.txt`
  /// mentions.
  var isWritten: Bool {
    switch self {
    case .noise, .altitude: false
    default: true
    }
  }
}

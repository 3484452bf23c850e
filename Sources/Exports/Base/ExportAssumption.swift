/// What stands in an export, or is left out of it, because nobody measured it. The raw values are the words of
/// `assumed` in `export.json`.
package enum ExportAssumption: String, CaseIterable, Sendable {
  // Times and pairing.
  /// Times follow from a rate.
  case times
  /// Times are those of the video's container.
  case timesOfVideo
  /// 0 stands for times that are not known.
  case unknownTimes
  /// Depth pictures have the times of the color pictures.
  case depthTimes
  /// Which pictures, depth, poses and times belong together.
  case pairing

  // Poses and world.
  /// The identity in place of poses.
  case poses
  /// Which axis of the world is up, where the export turns it.
  case worldUp

  // Inertial samples.
  /// Specific force is a sum of what the phone computed.
  case gravity
  /// Whether acceleration is specific force or its negative.
  case accelerationSign
  /// Acceleration at the times of the gyroscope.
  case acceleration
  /// Samples near frames stand for samples at frames.
  case nearestSamples
  /// Zeros in place of sensors.
  case missingSensors
  case timeOffset
  case imuFromCameraTranslation
  case imuFromCameraRotation
  /// Noise densities: not written.
  case noise
  case covariances
  case velocity
  case gyroscopeBias
  case accelerometerBias

  // Cameras and depth.
  /// A file in place of the capture's own cameras.
  case calibration
  /// The same where depth was brought to the color grid.
  case alignedCalibration
  /// One statement of the app for all frames.
  case intrinsics
  case rescaledIntrinsics
  /// The median in place of intrinsics that a frame lacks.
  case intrinsicsOfOthers
  case distortion
  /// That depth and color are one camera.
  case registration
  case depthSize
  /// Depth on the color grid, between the depth camera's pixels.
  case alignedDepth
  /// 0 in place of confidence that was not recorded.
  case confidence

  // Positions.
  /// Not written.
  case altitude
  case timesOfDay
  case interpolatedPositions
  case heldPositions

  /// Whether a default is written; else the export lacks the number, which `README.txt` alone says.
  package var isWritten: Bool {
    switch self {
    case .noise, .altitude: false
    default: true
    }
  }
}

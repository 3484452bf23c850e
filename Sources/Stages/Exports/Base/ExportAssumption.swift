import Captures
import Core
import Engine
import Media
import Processing

/// Finds what an export assumes without measurement: `assumed` of `export.json` and "Not measured" of `README.txt`, for
/// every format.
extension ExportContent {
  typealias Assumed = (assumption: ExportAssumption, sentence: String)

  /// All assumptions with their sentences, in the order of the cases.
  var assumed: [Assumed] {
    assumedTimes + assumedPoses + (inertial.map(assumedSamples) ?? []) + assumedMotion
      + assumedCameras + assumedPositions
  }

  // MARK: Times and pairing

  /// Whether any exported frame has a time.
  private var hasFrameTimes: Bool {
    frames.contains { capture.frames[$0].pictureTime != nil }
  }

  /// Whether neither the app nor the container recorded times; a bare stream has none.
  private var areTimesNominal: Bool {
    switch capture.clock.base {
    case .nominal: true
    case .video: capture.color.value?.description.container == .annexB
    case .uptime, .unix, .recordingStart: false
    }
  }

  @ListBuilder<Assumed> private var assumedTimes: [Assumed] {
    if areTimesNominal {
      if hasFrameTimes || inertial != nil {
        (
          .times,
          "Times are nominal: the app recorded none, and they follow from the rate of the streams."
        )
      }
    } else if hasFrameTimes {
      if capture.clock.base == .video {
        (
          .timesOfVideo, "Times of pictures are those of the video file: the app recorded none."
        )
      } else if let warning = capture.warnings.first(where: {
        $0.code == .timestampsMissing && $0.subject == "video"
      }) {
        (
          .timesOfVideo,
          "Times of some pictures are those of the video file: \(warning.count) \(warning.message)."
        )
      }
    }
    if zeroTimes > 0 {
      (.unknownTimes, "Times that are not known are 0 (frames: \(zeroTimes)).")
    }
    if borrowedDepthTimes > 0 {
      (
        .depthTimes,
        "Depth pictures without a time of their own have that of their color picture (frames: \(borrowedDepthTimes))."
      )
    }
    if let pairingSentence { (.pairing, pairingSentence) }
  }

  /// Number of frames whose depth picture has the time of the color picture.
  private var borrowedDepthTimes: Int {
    guard statesDepthTimes, depth != .none else { return 0 }
    return frames.count {
      capture.frames[$0].depthTimestamp == nil && source?.depth?.has($0) == true
        && capture.frames[$0].pictureTime != nil
    }
  }

  private var pairingSentence: String? {
    guard !frames.isEmpty else { return nil }
    let messages = capture.warnings.filter(isAboutPairing).map(\.message)
    guard !messages.isEmpty else { return nil }
    var partners: [String] = []
    if hasFrameTimes { partners.append("time") }
    if depth != .none { partners.append("depth") }
    if poses == .recorded { partners.append("pose") }
    let frame = hasPictures ? "picture" : "frame"
    let what =
      partners.isEmpty
      ? "The number of each \(frame)"
      : "Which \(partners.joined(separator: " and ")) belongs to a \(frame)"
    return "\(what) is not certain: " + messages.joined(separator: "; ") + "."
  }

  /// Whether a warning says that streams were paired without proof, or by index although their
  /// lengths differ.
  private func isAboutPairing(_ warning: CaptureWarning) -> Bool {
    guard [.pairingApproximate, .frameCountMismatch].contains(warning.code) else { return false }
    if warning.code == .frameCountMismatch, isPairingProved(warning.subject) { return false }
    switch warning.subject {
    case "frames": return true
    case "color", "video": return hasPictures
    case "depth": return depth != .none
    default: return false
    }
  }

  /// Whether the items of a stream carry what says where they belong.
  private func isPairingProved(_ stream: String) -> Bool {
    let pairing =
      switch stream {
      case "color", "video": capture.color.value?.description.pairing
      case "depth": capture.depth.value?.description.pairing
      default: nil as StreamPairing?
      }
    guard let pairing else { return false }
    return pairing.way != .rank && !pairing.isDoubtful
  }

  // MARK: Poses and world

  @ListBuilder<Assumed> private var assumedPoses: [Assumed] {
    if poses == .identity {
      (.poses, "The poses: the capture has none, and each is the identity.")
    }
    if turnsWorld, poses == .recorded {
      (
        .worldUp,
        "That y is up in the app's world is how such apps define it; the turn to z up follows from it."
      )
    }
  }

  // MARK: Inertial samples

  @ListBuilder<Assumed> private func assumedSamples(_ inertial: Inertial) -> [Assumed] {
    if inertial.isSpecificForce, capture.imu.value?.sensors.contains("accelerometer") != true {
      (
        .gravity,
        "Specific force is userAcceleration + gravity, which the phone computed; samples of the "
          + "accelerometer itself were not recorded."
      )
    }
    if inertial.isSpecificForce, let imu = capture.imu.value,
      parameters[MotionUnits.convention] == nil
    {
      (
        .accelerationSign,
        "The signs of acceleration are taken to be those of "
          + (imu.convention == .coremotion
            ? "CoreMotion, and turned into specific force"
            : "Android, which are those of specific force")
          + "; the capture does not state them (parameter convention)."
      )
    }
    if inertial.interpolated > 0 {
      (
        .acceleration,
        "Acceleration at the times of the gyroscope is interpolated between two samples (rows: "
          + "\(inertial.interpolated))."
      )
    }
    if let times = capture.imu.value?.truncatedTimes, !times.isEmpty {
      (
        .sampleTimes,
        "The times of samples lost digits in the file; samples of one stamp are spread evenly up to the "
          + "next (\(times.keys.sorted().joined(separator: ", ")))."
      )
    }
    if inertial.isNearest {
      (
        .nearestSamples,
        "The samples beside the frames are the nearest ones, at most 50 ms away."
      )
    }
    if !inertial.zeros.isEmpty {
      (
        .missingSensors,
        "Samples that were not recorded are 0: \(inertial.zeros.joined(separator: ", "))."
      )
    }
    if hasFrameTimes, !TimeOffsetChoice.isSet(parameters) {
      (
        .timeOffset,
        "The time offset between camera and IMU is taken as 0"
          + (parameters[TimeOffsetChoice.key.name] == nil ? "." : " (parameter timeOffset).")
      )
    }
  }

  @ListBuilder<Assumed> private var assumedMotion: [Assumed] {
    if let cameraToIMU, parameters[TimeOffsetChoice.extrinsics] == nil {
      (
        .imuFromCameraTranslation, "Where the IMU is beside the camera: 0 m in \(cameraToIMU)."
      )
      (
        .imuFromCameraRotation,
        "How the IMU is turned against the camera: in \(cameraToIMU) as phones with a back camera are built, not "
          + "calibrated."
      )
    }
    if inertial?.lacksNoise == true {
      (
        .noise,
        "The noise densities of the IMU are not known and not written (parameters gyroscopeNoise, "
          + "gyroscopeWalk, accelerometerNoise, accelerometerWalk)."
      )
    }
    if let covariances {
      (.covariances, "Covariances of \(covariances) are 0, which means unknown.")
    }
    if hasVelocities {
      (.velocity, "The velocities beside the poses are not known: they are 0.")
      (.gyroscopeBias, "The biases of the gyroscope are not known: they are 0.")
      (.accelerometerBias, "The biases of the accelerometer are not known: they are 0.")
    }
  }

  // MARK: Cameras and depth

  private var isOwnCalibration: Bool {
    source?.context.externalFiles["calibration"] == nil
  }

  private var assumedCameras: [Assumed] {
    source.map { assumedIntrinsics($0) + assumedDepth($0) } ?? []
  }

  @ListBuilder<Assumed>
  private func assumedIntrinsics(_ source: ExportSource) -> [Assumed] {
    let hasCameras = cameras != .none
    if !isOwnCalibration, hasCameras || depth == .native {
      (
        .calibration,
        "The cameras are those of the calibration file that was given, not of this recording."
      )
    }
    if depth == .aligned, let aligned = source.depth,
      aligned.record.inputs.external["calibration"] != nil
    {
      (
        .alignedCalibration,
        "Depth was brought to the color grid with the calibration file that '\(aligned.stage)' "
          + "was given, not with cameras of this recording."
      )
    }
    if hasCameras, isOwnCalibration, areIntrinsicsStatedOnce {
      (.intrinsics, intrinsicsSentence)
    }
    if hasCameras, areIntrinsicsRescaled(source) {
      (
        .rescaledIntrinsics,
        "Intrinsics belong to another picture size and were rescaled to that of the pictures."
      )
    }
    if cameras.common != nil, case let count = frames.count(where: { source.cameras[$0] == nil }),
      count > 0
    {
      (
        .intrinsicsOfOthers,
        "Frames without intrinsics have the one camera of the others (frames: \(count))."
      )
    }
    if hasCameras, source.cameras.distortion == nil, !source.cameras.isUndistorted {
      (
        .distortion,
        "The distortion of the lens: no coefficients are known, and it is taken as none."
      )
    }
  }

  @ListBuilder<Assumed> private func assumedDepth(_ source: ExportSource) -> [Assumed] {
    if depth != .none, isOwnCalibration, !capture.familyDescription.statesRegistration,
      let calibration = capture.alignment, calibration.registered,
      calibration.depthIntrinsics == nil
    {
      (
        .registration,
        "That depth belongs to the color camera is how such apps work; the recording states no depth camera "
          + "of its own."
      )
    }
    if depth != .none, let warning = capture.warnings.first(where: Self.isAboutDepthSize) {
      (.depthSize, "The size of the depth pictures: \(warning.message).")
    }
    if depth == .aligned, let stream = capture.depth.value,
      capture.alignment?.registered != true || source.width != stream.width
        || source.height != stream.height
    {
      (
        .alignedDepth,
        "Depth on the color grid is computed from \(stream.width)x\(stream.height) measurements: between "
          + "them it is interpolated."
      )
    }
    if zeroConfidences > 0 {
      (.confidence, "Confidence that was not recorded is 0 (frames: \(zeroConfidences)).")
    }
  }

  private var intrinsicsSentence: String {
    if capture.familyDescription.cameraStatement == .onceOrFocalLength, capture.alignment == nil {
      return
        "The app states a focal length; the principal point is taken as the middle of the picture, the "
        + "pixels as square."
    }
    return capture.alignment?.statesLens == true
      ? "Intrinsics and the lens are stated once for the whole recording, measured in none of its frames."
      : "Intrinsics are nominal: the app states one camera for the whole recording, calibrated for none of "
        + "its frames."
  }

  /// Whether the family writes its cameras once, before or after all frames.
  private var areIntrinsicsStatedOnce: Bool {
    switch capture.familyDescription.cameraStatement {
    case .perFrame: return false
    case .once, .onceOrFocalLength: return true
    case .onceWithoutPoses:
      if case .absent = capture.poses { return true }
      return false
    }
  }

  private func areIntrinsicsRescaled(_ source: ExportSource) -> Bool {
    guard isOwnCalibration else {
      guard let camera = source.cameras.calibration?.colorIntrinsics,
        let stored = capture.storedColorSize
      else { return false }
      return PictureSize(camera) != stored
    }
    return capture.warnings.contains {
      $0.code == .sizeMismatch && $0.subject == "color" && $0.message.contains("rescaled")
    }
  }

  private static func isAboutDepthSize(_ warning: CaptureWarning) -> Bool {
    (warning.code == .sizeMismatch && warning.subject == "depth")
      || (warning.code == .missingFile && warning.message.contains("depth is taken as"))
  }

  // MARK: Positions

  @ListBuilder<Assumed> private var assumedPositions: [Assumed] {
    if let positions {
      if !positions.hasAltitude {
        (.altitude, "There is no altitude: the recorder does not record it.")
      }
      if positions.hasTimesOfDay {
        (
          .timesOfDay,
          "Times of day are the start of the recording plus the time since; the start is good to seconds."
        )
      }
      if positions.interpolated > 0 {
        (
          .interpolatedPositions,
          "Positions between two fixes are interpolated (frames: \(positions.interpolated))."
        )
      }
      if positions.isSingleFix {
        (.heldPositions, "A single fix stands for the whole capture.")
      } else if positions.held > 0 {
        (
          .heldPositions,
          "Positions before the first and after the last fix, and in a pause, are those of a fix near them "
            + "(frames: \(positions.held))."
        )
      }
    }
  }
}

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

import Captures
import Core
import Engine
import Media
import Processing

/// Finds what an export assumes without measurement. Makes `assumed` of `export.json` and "Not
/// measured" of `README.txt` for every format.
struct AssumptionFinder {
  private let content: ExportContent
  private let capture: Capture

  init(_ content: ExportContent) {
    self.content = content
    capture = content.capture
  }

  /// All assumptions with their sentences, in the order of the cases.
  var all: [(assumption: ExportAssumption, sentence: String)] {
    ExportAssumption.allCases.compactMap { assumption in
      sentence(assumption).map { (assumption, $0) }
    }
  }

  /// The sentence about an assumption; `nil` if the value was measured, or the export does not
  /// state it.
  private func sentence(_ assumption: ExportAssumption) -> String? {
    switch assumption {
    case .times, .timesOfVideo, .unknownTimes, .depthTimes, .pairing: timeSentence(assumption)
    case .poses, .worldUp: worldSentence(assumption)
    case .gravity, .accelerationSign, .acceleration, .nearestSamples, .missingSensors, .timeOffset,
      .sampleTimes, .imuFromCameraTranslation, .imuFromCameraRotation, .noise, .covariances,
      .velocity,
      .gyroscopeBias, .accelerometerBias:
      inertialSentence(assumption)
    case .calibration, .alignedCalibration, .intrinsics, .rescaledIntrinsics, .intrinsicsOfOthers,
      .distortion, .registration, .depthSize, .alignedDepth, .confidence:
      cameraSentence(assumption)
    case .altitude, .timesOfDay, .interpolatedPositions, .heldPositions:
      positionSentence(assumption)
    }
  }

  // MARK: Times and pairing

  /// Whether any exported frame has a time.
  private var hasFrameTimes: Bool {
    content.frames.contains { capture.frames[$0].pictureTime != nil }
  }

  private var statesTimes: Bool { hasFrameTimes || content.inertial != nil }

  /// Whether neither the app nor the container recorded times; a bare stream has none.
  private var areTimesNominal: Bool {
    switch capture.clock.base {
    case .nominal: true
    case .video: capture.color.value?.description.container == .annexB
    case .uptime, .unix, .recordingStart: false
    }
  }

  private func timeSentence(_ assumption: ExportAssumption) -> String? {
    switch assumption {
    case .times:
      return statesTimes && areTimesNominal
        ? "Times are nominal: the app recorded none, and they follow from the rate of the streams."
        : nil
    case .timesOfVideo:
      guard hasFrameTimes, !areTimesNominal else { return nil }
      if capture.clock.base == .video {
        return "Times of pictures are those of the video file: the app recorded none."
      }
      let warning = capture.warnings.first {
        $0.code == .timestampsMissing && $0.subject == "video"
      }
      return warning.map {
        "Times of some pictures are those of the video file: \($0.count) \($0.message)."
      }
    case .unknownTimes:
      return content.zeroTimes > 0
        ? "Times that are not known are 0 (frames: \(content.zeroTimes))." : nil
    case .depthTimes:
      guard content.statesDepthTimes, content.depth != .none else { return nil }
      let count = content.frames.count {
        capture.frames[$0].depthTimestamp == nil && content.source?.depth?.has($0) == true
          && capture.frames[$0].pictureTime != nil
      }
      return count > 0
        ? "Depth pictures without a time of their own have that of their color picture (frames: \(count))."
        : nil
    default: return pairingSentence
    }
  }

  private var pairingSentence: String? {
    guard !content.frames.isEmpty else { return nil }
    let messages = capture.warnings.filter(isAboutPairing).map(\.message)
    guard !messages.isEmpty else { return nil }
    var partners: [String] = []
    if hasFrameTimes { partners.append("time") }
    if content.depth != .none { partners.append("depth") }
    if content.poses == .recorded { partners.append("pose") }
    let frame = content.hasPictures ? "picture" : "frame"
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
    case "color", "video": return content.hasPictures
    case "depth": return content.depth != .none
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

  private func worldSentence(_ assumption: ExportAssumption) -> String? {
    switch assumption {
    case .poses:
      content.poses == .identity
        ? "The poses: the capture has none, and each is the identity." : nil
    default:
      content.turnsWorld && content.poses == .recorded
        ? "That y is up in the app's world is how such apps define it; the turn to z up follows from it."
        : nil
    }
  }

  // MARK: Inertial samples

  private var offsetParameter: Bool { content.parameters[TimeOffsetChoice.key.name] != nil }

  private func inertialSentence(_ assumption: ExportAssumption) -> String? {
    guard let inertial = content.inertial else {
      return motionSentence(assumption)
    }
    switch assumption {
    case .gravity:
      let sensors = Set(capture.imu.value?.sensors ?? [])
      return inertial.isSpecificForce && !sensors.contains("accelerometer")
        ? "Specific force is userAcceleration + gravity, which the phone computed; samples of the "
          + "accelerometer itself were not recorded."
        : nil
    case .accelerationSign:
      guard inertial.isSpecificForce, let imu = capture.imu.value,
        content.parameters[MotionUnits.convention] == nil
      else { return nil }
      return
        "The signs of acceleration are taken to be those of "
        + (imu.convention == .coremotion
          ? "CoreMotion, and turned into specific force"
          : "Android, which are those of specific force")
        + "; the capture does not state them (parameter convention)."
    case .acceleration:
      return inertial.interpolated > 0
        ? "Acceleration at the times of the gyroscope is interpolated between two samples (rows: "
          + "\(inertial.interpolated))."
        : nil
    case .sampleTimes:
      let sensors = (capture.imu.value?.truncatedTimes ?? [:]).keys.sorted()
      return sensors.isEmpty
        ? nil
        : "The times of samples lost digits in the file; samples of one stamp are spread evenly up to the "
          + "next (\(sensors.joined(separator: ", ")))."
    case .nearestSamples:
      return inertial.isNearest
        ? "The samples beside the frames are the nearest ones, at most 50 ms away." : nil
    case .missingSensors:
      return inertial.zeros.isEmpty
        ? nil
        : "Samples that were not recorded are 0: \(inertial.zeros.joined(separator: ", "))."
    case .timeOffset:
      guard hasFrameTimes, !TimeOffsetChoice.isSet(content.parameters) else { return nil }
      return "The time offset between camera and IMU is taken as 0"
        + (offsetParameter ? " (parameter timeOffset)." : ".")
    case .noise:
      return inertial.lacksNoise
        ? "The noise densities of the IMU are not known and not written (parameters gyroscopeNoise, "
          + "gyroscopeWalk, accelerometerNoise, accelerometerWalk)."
        : nil
    default: return motionSentence(assumption)
    }
  }

  /// Where the transform between camera and IMU is assumed.
  private var assumedCameraToIMU: String? {
    content.parameters[TimeOffsetChoice.extrinsics] == nil ? content.cameraToIMU : nil
  }

  /// The sentences that do not depend on samples.
  private func motionSentence(_ assumption: ExportAssumption) -> String? {
    switch assumption {
    case .imuFromCameraTranslation:
      assumedCameraToIMU.map { "Where the IMU is beside the camera: 0 m in \($0)." }
    case .imuFromCameraRotation:
      assumedCameraToIMU.map {
        "How the IMU is turned against the camera: in \($0) as phones with a back camera are built, not "
          + "calibrated."
      }
    case .covariances:
      content.covariances.map { "Covariances of \($0) are 0, which means unknown." }
    case .velocity:
      content.hasVelocities ? "The velocities beside the poses are not known: they are 0." : nil
    case .gyroscopeBias:
      content.hasVelocities ? "The biases of the gyroscope are not known: they are 0." : nil
    case .accelerometerBias:
      content.hasVelocities ? "The biases of the accelerometer are not known: they are 0." : nil
    default: nil
    }
  }

  // MARK: Cameras and depth

  private var isOwnCalibration: Bool {
    content.source?.context.externalFiles["calibration"] == nil
  }

  private func cameraSentence(_ assumption: ExportAssumption) -> String? {
    guard let source = content.source else { return nil }
    let hasCameras = content.cameras != .none
    switch assumption {
    case .calibration:
      return !isOwnCalibration && (hasCameras || content.depth == .native)
        ? "The cameras are those of the calibration file that was given, not of this recording."
        : nil
    case .alignedCalibration:
      return content.depth == .aligned
        && source.depth?.record.inputs.external["calibration"] != nil
        ? "Depth was brought to the color grid with the calibration file that '\(source.depth?.stage ?? "")' "
          + "was given, not with cameras of this recording."
        : nil
    case .intrinsics:
      guard hasCameras, isOwnCalibration, areIntrinsicsStatedOnce else { return nil }
      if capture.familyDescription.cameraStatement == .onceOrFocalLength, capture.alignment == nil {
        return
          "The app states a focal length; the principal point is taken as the middle of the picture, the "
          + "pixels as square."
      }
      return capture.alignment?.statesLens == true
        ? "Intrinsics and the lens are stated once for the whole recording, measured in none of its frames."
        : "Intrinsics are nominal: the app states one camera for the whole recording, calibrated for none of "
          + "its frames."
    case .rescaledIntrinsics:
      return hasCameras && areIntrinsicsRescaled(source)
        ? "Intrinsics belong to another picture size and were rescaled to that of the pictures."
        : nil
    case .intrinsicsOfOthers:
      guard content.cameras.common != nil else { return nil }
      let count = content.frames.count { source.cameras[$0] == nil }
      return count > 0
        ? "Frames without intrinsics have the one camera of the others (frames: \(count))." : nil
    case .distortion:
      return hasCameras && source.cameras.distortion == nil && !source.cameras.isUndistorted
        ? "The distortion of the lens: no coefficients are known, and it is taken as none." : nil
    case .registration:
      guard content.depth != .none, isOwnCalibration, !capture.familyDescription.statesRegistration,
        let calibration = capture.alignment, calibration.registered,
        calibration.depthIntrinsics == nil
      else { return nil }
      return
        "That depth belongs to the color camera is how such apps work; the recording states no depth camera "
        + "of its own."
    case .depthSize:
      guard content.depth != .none else { return nil }
      return capture.warnings.first(where: Self.isAboutDepthSize).map {
        "The size of the depth pictures: \($0.message)."
      }
    case .alignedDepth:
      guard content.depth == .aligned, let stream = capture.depth.value else { return nil }
      let isSameGrid =
        capture.alignment?.registered == true && source.width == stream.width
        && source.height == stream.height
      return isSameGrid
        ? nil
        : "Depth on the color grid is computed from \(stream.width)x\(stream.height) measurements: between "
          + "them it is interpolated."
    default:
      return content.zeroConfidences > 0
        ? "Confidence that was not recorded is 0 (frames: \(content.zeroConfidences))." : nil
    }
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

  private func positionSentence(_ assumption: ExportAssumption) -> String? {
    guard let positions = content.positions else { return nil }
    switch assumption {
    case .altitude:
      return positions.hasAltitude ? nil : "There is no altitude: the recorder does not record it."
    case .timesOfDay:
      return positions.hasTimesOfDay
        ? "Times of day are the start of the recording plus the time since; the start is good to seconds."
        : nil
    case .interpolatedPositions:
      return positions.interpolated > 0
        ? "Positions between two fixes are interpolated (frames: \(positions.interpolated))."
        : nil
    default:
      if positions.isSingleFix { return "A single fix stands for the whole capture." }
      return positions.held > 0
        ? "Positions before the first and after the last fix, and in a pause, are those of a fix near them "
          + "(frames: \(positions.held))." : nil
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

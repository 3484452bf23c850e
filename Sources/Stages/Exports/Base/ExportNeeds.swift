import Captures
import Core
import Engine
import Processing

/// Something that an export needs from a capture, and from every frame that it writes.
enum ExportNeed {
  case picture, depth, pose, intrinsics
  /// A picture, depth or a pose.
  case content
  /// The format uses times as keys: every frame needs one, later than that of the previous frame.
  case time
  /// Times must be valid in ROS 1: unsigned 32-bit seconds. Used with `time`.
  case timeOfROS1
  /// A gyroscope and an acceleration that includes gravity (`IMUStream.missing`).
  case inertial
  /// If there are inertial samples, the format states their unit.
  case motionUnits
  case position
}

typealias ExportNeeds = Set<ExportNeed>

extension ExportNeeds {
  /// Whether the capture has it. The reason says what is missing, then why.
  func applicability(
    _ stage: String, _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    for part in parts {
      switch capture.state(of: part) {
      case .present: break
      case .absent(let why): return .notApplicable(Self.lacking(part.exportWord, why))
      case .unreadable(let why): return .unreadable(why)
      }
    }
    if let reason = missing(stage, parameters, capture) { return .notApplicable(reason) }
    return .applies
  }

  private var parts: [CapturePart] {
    var parts: [CapturePart] = [.frames]
    if contains(.picture) { parts.insert(.color, at: 0) }
    if contains(.depth) { parts.append(.depth) }
    if contains(.pose) { parts.append(.poses) }
    if contains(.inertial) { parts.append(.imu) }
    if contains(.position) { parts.append(.geo) }
    return parts
  }

  private static func lacking(_ what: String, _ why: String) -> String {
    why.isEmpty || why == what ? "no \(what)" : "no \(what): \(why)"
  }

  /// What the existing streams lack.
  private func missing(
    _ stage: String, _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> String? {
    if contains(.intrinsics), let reason = missingIntrinsics(stage, parameters, capture) {
      return reason
    }
    let facts = capture.exports
    if contains(.picture), facts.pictures == 0 { return "no color: the stream holds no picture" }
    if contains(.pose), facts.poses == 0 { return "no poses: no frame was tracked" }
    if contains(.time), facts.timedPictures == 0 { return "no times: no picture has one" }
    if contains(.inertial) {
      if let reason = IMUStream.missing(Set<String>(facts.samples.keys)) { return reason }
      if !capture.framesShareIMUClock { return "pictures and IMU have no common clock" }
    }
    if contains(.motionUnits),
      let reason = MotionUnits.obstacle(facts.doubtfulSensors ?? [], parameters)
    {
      return reason
    }
    if contains(.position), !facts.hasPosition { return "no position: no fix was recorded" }
    if facts.isMirrored, !isDisjoint(with: [.pose, .intrinsics, .inertial]) {
      return ColorStream.mirrorReason
    }
    return nil
  }

  private func missingIntrinsics(
    _ stage: String, _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> String? {
    if CalibrationChoice.file(parameters, deviceID: capture.deviceID) != nil { return nil }
    switch capture.state(of: .intrinsics) {
    // Its file is read while the stage runs, which reports the error.
    case .unreadable: return nil
    case .present where capture.exports.intrinsics != 0: return nil
    case .present, .absent: return "no intrinsics: give \(stage).calibration"
    }
  }
}

extension CapturePart {
  /// The word for this part in the reasons why an export is not possible.
  fileprivate var exportWord: String {
    switch self {
    case .geo: "position"
    case .imu: "gyroscope"
    case .cameraSettings: "camera settings"
    default: rawValue
    }
  }
}

/// The recorded sensors that give angular velocity, and acceleration with gravity.
extension IMUStream {
  /// Why there is no six-axis stream; `nil` when there is one.
  static func missing(_ sensors: Set<String>) -> String? {
    guard sensors.contains("gyroscope") || sensors.contains("rotationRate") else {
      return "no gyroscope"
    }
    if sensors.contains("accelerometer") { return nil }
    if sensors.contains("userAcceleration") {
      return sensors.contains("gravity")
        ? nil : "no acceleration with gravity: userAcceleration alone is not enough"
    }
    return "no accelerometer"
  }

  /// rad/s, in time order: `gyroscope`, else `rotationRate`.
  var angularVelocity: [IMUSample] {
    samples(of: "gyroscope") ?? samples(of: "rotationRate") ?? []
  }

  /// m/s², in time order: `accelerometer`, else the sum of `userAcceleration` and `gravity` at the
  /// same time. With the sign of specific force, whichever the app recorded.
  func specificForce(_ convention: IMUConvention) -> [IMUSample] {
    let recorded = samples(of: "accelerometer") ?? sumWithGravity
    return recorded.map { MotionUnits.specificForce($0, convention) }
  }

  /// The samples of one sensor, in time order; `nil` without any.
  func samples(of sensor: String) -> [IMUSample]? {
    guard let index = sensors.firstIndex(of: sensor) else { return nil }
    return samples.filter { $0.sensor == index }
  }

  private var sumWithGravity: [IMUSample] {
    guard let user = samples(of: "userAcceleration"), let gravity = samples(of: "gravity") else {
      return []
    }
    var sums: [IMUSample] = []
    var position = 0
    for sample in user {
      while position < gravity.count, gravity[position].timestamp < sample.timestamp {
        position += 1
      }
      guard position < gravity.count, gravity[position].timestamp == sample.timestamp else {
        continue
      }
      let g = gravity[position]
      sums.append(
        IMUSample(
          timestamp: sample.timestamp, sensor: sample.sensor, x: sample.x + g.x,
          y: sample.y + g.y, z: sample.z + g.z))
    }
    return sums
  }
}

extension SixAxisIMU {
  /// The six-axis stream of a capture; `nil` if it has none. `convention` in the parameters
  /// overrides that of the reader.
  init?(_ context: StageContext) {
    guard let imu = MotionUnits.samples(context), IMUStream.missing(Set(imu.sensors)) == nil else {
      return nil
    }
    self.init(
      gyroscope: imu.angularVelocity,
      specificForce: imu.specificForce(MotionUnits.convention(imu, context.parameters)))
  }
}

extension ExportStage {
  /// The bytes of some frames: their pictures, and depth on the grid of color. Those of all frames are files of other
  /// stages.
  static func expectedBytes(
    _ parameters: ParameterValues, _ capture: OpenedCapture
  ) -> ExpectedBytes? {
    guard isSubset(parameters), let color = capture.color else { return nil }
    let frames = ExpectedBytes.Frames(parameters, of: color.count)
    let bytesPerPixel: Double? =
      switch pictures(parameters) {
      case "color": 3 * 0.33
      case "jpeg": 3 * 0.05
      case "gray": 0.33
      default: nil
      }
    let depth =
      wantsDepth(parameters)
      ? DepthChoice(depthRule, parameters, capture.summary) : DepthChoice.none
    let depthPerPixel = depth == .none || capture.depth == nil ? 0 : 2 * 0.2
    return ExpectedBytes(
      color, frames, bytesPerPixel: (bytesPerPixel ?? 0) + depthPerPixel, least: 0, usual: 1)
  }
}

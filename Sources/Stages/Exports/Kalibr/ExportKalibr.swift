import Captures
import Core
import Engine
import Processing

/// Writes the folder that Kalibr's bag creator reads: gray pictures and, if recorded, one IMU.
enum ExportKalibr: ExportStage {
  static let name = "export-kalibr"
  static let version = 2
  static let sentence =
    "Folder for Kalibr's bag creator: gray pictures named by time, and imu0.csv where there is an IMU; "
    + "needs color with times."
  static let ports = [grayPort, TimeOffsetChoice.port]
  static let parameters =
    ExportParameters.selection
    + ParameterDescription.list(
      ExportParameters.share, ExportParameters.timeOffset, TimeOffsetChoice.extrinsics,
      MotionUnits.convention,
      ExportParameters.imuMargin) + MotionUnits.shared + ExportParameters.noise

  static let needs: ExportNeeds = [.picture, .time, .timeOfROS1, .motionUnits]
  static let reads: Set<CapturePart> = [.imu]
  static func pictures(_ parameters: ParameterValues) -> String? { "gray" }

  static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    let found = needs.applicability(name, parameters, capture)
    // Pictures alone suffice, but not if an IMU was recorded that cannot be read.
    guard case .applies = found, case .unreadable(let why) = capture.state(of: .imu) else {
      return found
    }
    return .unreadable(why)
  }

  static func chooseFrames(_ source: ExportSource) throws -> ExportFrames {
    try ExportFrames(source, needs, inertial: try stream(source.context).imu)
  }

  static func write(
    _ frames: [Int], of source: ExportSource, to folder: ExportFolder,
    _ content: inout ExportContent
  ) throws -> ExportReadme {
    let context = source.context
    let (imu, withoutIMU) = try stream(context)
    let inertial = try imu.map { try InertialExport($0, cropped: IMUCrop(source, frames), context) }
    guard let pictures = source.pictures else { throw StageDoesNotApply("no picture is left") }
    let times = frames.compactMap { source.time($0) }
    let digits = digits(times + (inertial?.imu.rows.map(\.timestamp) ?? []))
    content.names = try folder.sharePictures(pictures, frames) { position, _, ending in
      "cam0/" + times[position].nanoseconds.padded(digits) + "." + ending
    }
    var readme = readme(digits: digits, withoutIMU, noise: inertial?.noise.count ?? 0)
    if let inertial {
      try inertial.write("imu0.csv", columns: imuColumns, digits: digits, context)
      try writeNoise(inertial, folder)
      inertial.describe(&content, &readme, context)
    }
    if (content.exported?.leftOut[.noTime] ?? 0) > 0 {
      readme.remarks.append(
        "ROS 1 cannot represent times before 0, or of 2³² seconds and more; frames with such times count as no-time."
      )
    }
    if let remark = TimeOffsetChoice.readoutRemark(context) { readme.remarks.append(remark) }
    return readme
  }

  private static let imuColumns = [
    "timestamp", "omega_x", "omega_y", "omega_z", "alpha_x", "alpha_y", "alpha_z",
  ]

  /// The samples with times that ROS 1 can represent, or why there are none.
  private static func stream(
    _ context: StageContext
  ) throws -> (imu: SixAxisIMU?, reason: String?) {
    let capture = context.capture
    if let error = capture.imu.error { throw error }
    guard let recorded = capture.imu.value else {
      if case .absent(let why) = capture.imu { return (nil, why) }
      return (nil, "no IMU was recorded")
    }
    if let missing = IMUStream.missing(Set(recorded.sensors)) { return (nil, missing) }
    guard capture.framesShareIMUClock else {
      return (nil, "pictures and IMU have no common clock")
    }
    guard var imu = SixAxisIMU(context), !imu.rows.isEmpty else {
      return (nil, "no gyroscope sample has an acceleration around it")
    }
    let count = imu.rows.count
    imu.rows.removeAll { !$0.timestamp.isTimeOfROS1 }
    imu.leftOut += count - imu.rows.count
    return imu.rows.isEmpty
      ? (nil, "no IMU sample has a time that ROS 1 can represent") : (imu, nil)
  }

  /// Number of digits in file names. The converter takes the last nine characters of a name as
  /// nanoseconds and sorts names as texts, so all names have the same number of digits, at least
  /// one before those nine.
  private static func digits(_ times: [Timestamp]) -> Int {
    times.reduce(10) { max($0, String($1.nanoseconds).utf8.count) }
  }

  /// Writes `imu.yaml` only if densities are set: Kalibr needs all four.
  private static func writeNoise(_ inertial: InertialExport, _ folder: ExportFolder) throws {
    guard !inertial.noise.isEmpty else { return }
    var pairs = inertial.noise + [("rostopic", .text("/imu0"))]
    if let rate = inertial.hertz { pairs.append(("update_rate", .number(Double(rate)))) }
    try folder.write(try YAMLText.document(pairs), as: "imu.yaml")
  }

  /// - Parameters:
  ///   - withoutIMU: why there are no samples; `nil` if there are.
  ///   - noise: number of noise densities in `imu.yaml`.
  private static func readme(digits: Int, _ withoutIMU: String?, noise: Int) -> ExportReadme {
    ExportReadme("Calibration sequence for Kalibr") {
      "cam0/ holds 8-bit gray pictures named by their time in nanoseconds, \(digits) digits."
      if withoutIMU == nil {
        "imu0.csv holds gyroscope (rad/s), then specific force (m/s²): at rest, face up, z is +9.8."
      }
      if noise > 0 { "imu.yaml holds the noise densities that were given." }
    } opening: {
      (
        "kalibr_bagcreater --folder export-kalibr --output-bag calibration.bag",
        "Make the bag that Kalibr calibrates from"
      )
    } conventions: {
      "Y = 0.299 R + 0.587 G + 0.114 B, rounded to the nearest."
      "Times are nanoseconds on the capture's own clock"
        + (withoutIMU == nil ? ", the same for pictures and IMU." : ".")
      if withoutIMU == nil {
        "IMU axes: x right, y up along the screen, z out of the screen. Every picture lies between the first "
          + "and the last IMU sample."
      }
    } remarks: {
      if let withoutIMU {
        "There is no imu0.csv: \(withoutIMU). All pictures with a time are here; cameras can be calibrated "
          + "with them."
      }
      if (1...3).contains(noise) {
        "imu.yaml has \(noise) of 4 noise densities; Kalibr asks for all of them."
      }
    }
  }
}

import Captures
import Core
import Engine
import Media
import Processing

/// Writes the layout of the EuRoC MAV data set (ASL format), which most visual-inertial SLAM
/// programs read.
enum ExportEuRoC: ExportStage {
  static let name = "export-euroc"
  static let version = 2
  static let sentence =
    "EuRoC / ASL folder for visual-inertial SLAM (ORB-SLAM3, OpenVINS): gray pictures, IMU, times.txt, "
    + "ground truth; needs color with times, gyroscope, acceleration."
  static let ports = [grayPort, colorPort, TimeOffsetChoice.port]
  static let parameters =
    ExportParameters.selection
    + ParameterDescription.list(
      picture, ExportParameters.share, compression, ExportParameters.timeOffset,
      TimeOffsetChoice.extrinsics,
      MotionUnits.convention, CommonCamera.parameter, ExportParameters.imuMargin)
    + MotionUnits.shared + ExportParameters.noise + CalibrationChoice.parameters

  private enum Picture: String, CaseIterable {
    case gray, color
  }

  private static let picture = Parameter(
    "picture", .choice(), default: Picture.gray,
    "gray: 8-bit gray pictures. color: the pictures of color/, as PNG.")
  private static let compression = CommonParameters.compression.needing(picture, .color)

  static let needs: ExportNeeds = [
    .picture, .time, .inertial, .motionUnits,
  ]
  static let reads: Set<CapturePart> = [.imu, .cameraSettings]
  static func pictures(_ parameters: ParameterValues) -> String? {
    parameters[picture].rawValue
  }

  private static func stream(_ context: StageContext) throws -> SixAxisIMU {
    if let error = context.capture.imu.error { throw error }
    guard let imu = SixAxisIMU(context) else {
      throw StageDoesNotApply("no gyroscope with acceleration")
    }
    return imu
  }

  static func chooseFrames(_ source: ExportSource) throws -> ExportFrames {
    try ExportFrames(source, needs, inertial: stream(source.context))
  }

  static func write(
    _ frames: [Int], of source: ExportSource, to folder: ExportFolder,
    _ content: inout ExportContent
  ) throws -> ExportReadme {
    let context = source.context
    if let error = context.capture.cameraSettings.error { throw error }
    let inertial = try InertialExport(stream(context), cropped: IMUCrop(source, frames), context)
    guard let pictures = source.pictures else { throw StageDoesNotApply("no picture is left") }
    let layout = EuRoCLayout(source, frames)
    // Gray pictures are PNG already; color is encoded only if color/ has JPEG.
    content.names = try folder.writePictures(pictures, frames, .png) { position, _, _ in
      layout.pictureName(position)
    }
    try layout.writeTimes(context.staging)
    let hasExposures = try layout.writeExposures(context)
    try inertial.write("mav0/imu0/data.csv", columns: EuRoCLayout.imuColumns, context)
    let truths = try layout.writeGroundTruth(context)
    try folder.write(try layout.body(), as: "mav0/body.yaml")
    try folder.write(try layout.camera(), as: "mav0/cam0/sensor.yaml")
    try folder.write(try layout.imu(inertial), as: "mav0/imu0/sensor.yaml")
    var readme = readme(layout, hasExposures: hasExposures, truths: truths, source)
    inertial.describe(&content, &readme, context)
    if let median = layout.median { content.cameras = .one(median) }
    content.poses = truths > 0 ? .recorded : .none
    content.hasVelocities = truths > 0
    content.cameraToIMU = "T_BS of mav0/cam0/sensor.yaml"
    return readme
  }
}

extension ExportEuRoC {
  fileprivate static func readme(
    _ layout: EuRoCLayout, hasExposures: Bool, truths: Int, _ source: ExportSource
  ) -> ExportReadme {
    ExportReadme("Visual-inertial sequence in the layout of EuRoC (ASL)") {
      "mav0/cam0/data/ holds the pictures, named by their time in nanoseconds; mav0/cam0/data.csv and "
        + "times.txt list them. mav0/imu0/data.csv holds gyroscope (rad/s), then specific force (m/s²)."
      if hasExposures { "mav0/cam0/exposure.csv holds exposure times in nanoseconds." }
    } opening: {
      (
        "mono_inertial_euroc VOC CAMERA.yaml export-euroc export-euroc/times.txt",
        "ORB-SLAM3; CAMERA.yaml is written by hand from mav0/cam0/sensor.yaml"
      )
      if truths > 0 {
        ("evo_traj euroc mav0/state_groundtruth_estimate0/data.csv", "The app's own trajectory")
      }
    } conventions: {
      "The body is the IMU: x right, y up along the screen, z out of the screen. At rest, face up, specific "
        + "force is (0, 0, +9.8)."
      "T_BS maps sensor to body (p_imu = T_BS · p_cam). Kalibr's T_cam_imu and Spectacular AI's "
        + "imuToCamera are its inverse."
      "Camera axes: x right, y down, z forward; pixel centers at integers."
      "Times are nanoseconds on the capture's own clock, the same for pictures and IMU. Every picture lies "
        + "between the first and the last IMU sample, with a sample since the picture before."
      if let median = layout.median { "intrinsics is \(median.sentence)" }
      if truths > 0 {
        "mav0/state_groundtruth_estimate0/data.csv: pose of the body (IMU) in \(source.worldWords), "
          + "quaternion w x y z; \(truths) rows."
      }
    } remarks: {
      if layout.median == nil {
        "The capture has no intrinsics: mav0/cam0/sensor.yaml has none, calibrate the camera first "
          + "(parameter calibration)."
      }
      if truths == 0 { "No exported frame has a pose: there is no ground truth." }
      if layout.hasFurtherDistortion {
        "The lens has coefficients beyond k1, k2, p1, p2, which this format has no place for; they are left "
          + "out."
      }
    }
  }
}

/// The files of the ASL format: tables with one row per exported frame, and the YAML files of the sensors. `T_BS` maps
/// **sensor to body**; the body is the IMU.
struct EuRoCLayout {
  private let source: ExportSource
  private let frames: [Int]
  /// Times of the pictures, by index in `frames`.
  private let times: [Timestamp]
  /// One camera for all frames; `nil` without intrinsics.
  let median: CommonCamera?

  static let imuColumns = [
    "#timestamp [ns]", "w_RS_S_x [rad s^-1]", "w_RS_S_y [rad s^-1]", "w_RS_S_z [rad s^-1]",
    "a_RS_S_x [m s^-2]", "a_RS_S_y [m s^-2]", "a_RS_S_z [m s^-2]",
  ]

  /// As in the data set: a blank after every comma of the header, none in the rows.
  static let groundTruthColumns = [
    "#timestamp", " p_RS_R_x [m]", " p_RS_R_y [m]", " p_RS_R_z [m]", " q_RS_w []", " q_RS_x []",
    " q_RS_y []", " q_RS_z []", " v_RS_R_x [m s^-1]", " v_RS_R_y [m s^-1]", " v_RS_R_z [m s^-1]",
    " b_w_RS_S_x [rad s^-1]", " b_w_RS_S_y [rad s^-1]", " b_w_RS_S_z [rad s^-1]",
    " b_a_RS_S_x [m s^-2]", " b_a_RS_S_y [m s^-2]", " b_a_RS_S_z [m s^-2]",
  ]

  /// - Parameter frames: frames with a time each.
  init(_ source: ExportSource, _ frames: [Int]) {
    self.source = source
    self.frames = frames
    times = frames.compactMap { source.time($0) }
    median = CommonCamera(source, frames)
  }

  /// `<timestamp_ns>.png`, as in data.csv.
  private func fileName(_ position: Int) -> String { "\(times[position].nanoseconds).png" }

  /// Path inside the export.
  func pictureName(_ position: Int) -> String { "mav0/cam0/data/" + fileName(position) }

  /// Writes `times.txt` and `cam0/data.csv`.
  func writeTimes(_ staging: StagingFolder) throws {
    var list = try LineFile("times.txt", staging)
    var table = try TableFile(
      "mav0/cam0/data.csv", ["#timestamp [ns]", "filename"], staging)
    for position in times.indices {
      try list.line(String(times[position].nanoseconds))
      try table.row(times[position].nanoseconds, fileName(position))
    }
    try list.finish()
    try table.finish()
  }

  /// Writes `cam0/exposure.csv` if any exported frame has an exposure; returns whether it did.
  func writeExposures(_ context: StageContext) throws -> Bool {
    let rows = context.capture.cameraSettings.value?.rows ?? []
    let exposures = Dictionary(rows.map { ($0.frame, $0.exposureSeconds) }) { first, _ in first }
      .compactMapValues { $0.flatMap(Timestamp.init(exactSeconds:)) }
      .filter { $0.value.nanoseconds >= 0 }
    guard frames.contains(where: { exposures[$0] != nil }) else { return false }
    var table = try TableFile(
      "mav0/cam0/exposure.csv", ["#timestamp [ns]", "exposure time[ns]"], context.staging)
    for (position, frame) in frames.enumerated() {
      guard let exposure = exposures[frame] else { continue }
      try table.row(times[position].nanoseconds, exposure.nanoseconds)
    }
    try table.finish()
    return true
  }

  /// Writes the poses of the **body**, one row per exported frame with a pose; returns their
  /// number. Writes no file without any.
  func writeGroundTruth(_ context: StageContext) throws -> Int {
    guard frames.contains(where: { source.pose($0) != nil }) else { return 0 }
    var table = try TableFile(
      "mav0/state_groundtruth_estimate0/data.csv", Self.groundTruthColumns, context.staging)
    for (position, frame) in frames.enumerated() {
      guard let pose = source.pose(frame)?.worldFromIMU(cameraFromIMU: source.cameraFromIMU) else {
        continue
      }
      table.csv.field(times[position].nanoseconds)
      for coordinate in pose.position { table.csv.field(coordinate) }
      let q = pose.orientation
      for component in [q.w, q.x, q.y, q.z] { table.csv.field(component) }
      // Velocity and both biases are unknown.
      for _ in 0..<9 { table.csv.field(0.0) }
      try table.endRow()
    }
    try table.finish()
    return table.csv.rowCount
  }

  /// Whether the lens has coefficients that the model cannot store.
  var hasFurtherDistortion: Bool {
    guard median != nil, let lens = source.cameras.distortion else { return false }
    return lens.openCVOrder.dropFirst(4).contains { $0 != 0 }
  }

  func body() throws -> String {
    try YAMLText.document([
      ("comment", .text("the body frame is that of the IMU, imu0"))
    ])
  }

  func camera() throws -> String {
    let isMeasured = source.context.parameters[TimeOffsetChoice.extrinsics] != nil
    var pairs: YAMLText.Pairs = [
      ("sensor_type", .text("camera")),
      (
        "comment",
        .text(
          "back camera of a phone, lever arm \(isMeasured ? "of a calibration" : "not measured")")
      ),
      ("T_BS", .members(Self.matrix(source.cameraFromIMU.inverse))),
    ]
    if let rate = InertialExport.hertz(times) { pairs.append(("rate_hz", .integer(rate))) }
    let size = median.map { ($0.camera.width, $0.camera.height) }
    if let width = source.width ?? size?.0, let height = source.height ?? size?.1 {
      pairs.append(("resolution", .integers([width, height])))
    }
    if let camera = median?.camera {
      let lens = source.cameras.distortion ?? .none
      pairs += [
        ("camera_model", .text("pinhole")),
        ("intrinsics", .numbers([camera.fx, camera.fy, camera.cx, camera.cy])),
        ("distortion_model", .text("radial-tangential")),
        ("distortion_coefficients", .numbers([lens.k1, lens.k2, lens.p1, lens.p2])),
      ]
    }
    return try YAMLText.document(pairs)
  }

  func imu(_ inertial: InertialExport) throws -> String {
    var pairs: YAMLText.Pairs = [
      ("sensor_type", .text("imu")),
      ("comment", .text("gyroscope and accelerometer of a phone, specific force")),
      ("T_BS", .members(Self.matrix(.identity))),
    ]
    if let rate = inertial.hertz { pairs.append(("rate_hz", .integer(rate))) }
    return try YAMLText.document(pairs + inertial.noise)
  }

  private static func matrix(_ transform: RigidTransform) -> YAMLText.Pairs {
    [("cols", .integer(4)), ("rows", .integer(4)), ("data", .numbers(transform.rowMajor))]
  }
}

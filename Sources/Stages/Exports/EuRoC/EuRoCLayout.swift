import Captures
import Media
import Core
import Engine

/// Names and tables of the ASL format, with one row per exported frame.
struct EuRoCLayout: Sendable {
  private let source: ExportSource
  private let frames: [Int]
  /// Times of the pictures, by index in `frames`.
  let times: [Timestamp]

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
      table.csv.field(times[position].nanoseconds)
      table.csv.field(fileName(position))
      try table.endRow()
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
      table.csv.field(times[position].nanoseconds)
      table.csv.field(exposure.nanoseconds)
      try table.endRow()
    }
    try table.finish()
    return true
  }

  /// Writes the poses of the **body**, one row per exported frame with a pose; returns their
  /// number. Writes no file without any.
  func writeGroundTruth(_ context: StageContext) throws -> Int {
    guard frames.contains(where: { source.pose($0) != nil }) else { return 0 }
    let cameraFromIMU = PhoneAxes.cameraFromIMU(
      clockwiseQuarterTurns: context.capture.color.value?.clockwiseQuarterTurns ?? 0)
    var table = try TableFile(
      "mav0/state_groundtruth_estimate0/data.csv", Self.groundTruthColumns, context.staging)
    for (position, frame) in frames.enumerated() {
      guard let pose = source.pose(frame)?.worldFromIMU(cameraFromIMU: cameraFromIMU) else {
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
}

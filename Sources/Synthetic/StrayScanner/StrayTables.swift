import Core
import SystemPackage

/// Writes the three tables of a Stray Scanner capture. Every cell but the first has a leading
/// blank.
struct StrayTables {
  let plan: StrayPlan
  let folder: FilePath
  let rows: [StrayRow]
  let motion: StrayMotion
  /// The camera of the last frame.
  let camera: PinholeCamera

  func write() throws {
    if plan.odometry != .absent { try writeRows() }
    if plan.motion != .absent { try writeMotion() }
    if plan.hasMatrix { try writeMatrix() }
  }

  private func writeRows() throws {
    var columns = StrayRow.columns(plan.generation)
    if plan.odometry == .withoutColumn { columns[6] = "q2" }
    let file = try GrowingFile(folder.appending("odometry.csv"))
    try file.append(Self.line(columns))
    for row in rows where plan.rowEdits[row.frame] != .absent {
      let line = Self.line(row.cells(plan.generation))
      if plan.cutsLastRow, row.frame == plan.frames - 1 {
        try file.append(Self.half(line))
        break
      }
      try file.append(line)
      if plan.rowEdits[row.frame] == .repeated {
        try file.append(Self.line(row.cells(plan.generation, isSecond: true)))
      }
    }
    try file.close()
  }

  private func writeMotion() throws {
    var columns = ["timestamp", "a_x", "a_y", "a_z", "alpha_x", "alpha_y", "alpha_z"]
    if plan.motion == .withoutColumn { columns[6] = "beta" }
    let file = try GrowingFile(folder.appending("imu.csv"))
    try file.append(Self.line(columns))
    if plan.motion != .headerAlone {
      for (index, sample) in motion.samples.enumerated() {
        let line = Self.line(motion.cells(index, sample))
        let isCut = plan.cutsLastSample && index == motion.samples.count - 1
        try file.append(isCut ? Self.half(line) : line)
      }
    }
    try file.close()
  }

  /// The app writes no line end at the end of this file.
  private func writeMatrix() throws {
    let texts = StrayRow.texts(camera)
    let text = """
      \(texts[0]), 0.0, \(texts[2])
      0.0, \(texts[1]), \(texts[3])
      0.0, 0.0, 1.0
      """
    try OutputFile.write(Array(text.utf8), to: folder.appending("camera_matrix.csv"))
  }

  private static func line(_ cells: [String]) -> String { cells.joined(separator: ", ") + "\n" }

  private static func half(_ line: String) -> String { String(line.prefix(line.count / 2)) }
}

import Core

/// One row of `odometry.csv`, as stored and as in a reader's tables.
struct StrayRow {
  let frame: Int
  let time: String
  let nanoseconds: Int64?
  /// x, y, z, qx, qy, qz, qw.
  private let numbers: [String]
  private let intrinsics: PinholeCamera
  private let edit: StrayPlan.RowEdit?

  init(_ work: Synthesis<StrayScannerFamily>, _ frame: Int) {
    let (plan, state) = (work.plan, work.rig.motion.state(at: work.worldSeconds(frame)))
    self.frame = frame
    time = work.timeText(frame)
    nanoseconds = work.recorded(frame)
    edit = plan.rowEdits[frame]
    intrinsics = work.camera.camera(frame)
    let position =
      frame < plan.untrackedRows ? .zero : state.position + plan.damage.shift(frame)
    let q = state.pose?.orientation ?? Quaternion(x: 0, y: 0, z: 0, w: 1)
    // ARKit's own sign, which is often the other one.
    numbers = (position.array + [-q.x, -q.y, -q.z, -q.w]).map { "\(Float($0))" }
  }

  static func columns(_ generation: StrayScannerFamily) -> [String] {
    ["timestamp", "frame", "x", "y", "z", "qx", "qy", "qz", "qw"]
      + (generation.hasIntrinsicsPerFrame
        ? ["fx", "fy", "cx", "cy", "distortion_center_x", "distortion_center_y"] : [])
  }

  /// The cells of the file's row.
  func cells(_ generation: StrayScannerFamily, isSecond: Bool = false) -> [String] {
    var numbers = numbers
    if edit == .notFinite { numbers[1] = "nan" }
    if isSecond { numbers.replaceSubrange(0..<3, with: ["9.0", "9.0", "9.0"]) }
    var cells = [edit == .broken ? "soon" : time, Decimals.padded(frame, 6)] + numbers
    if generation.hasIntrinsicsPerFrame {
      cells += edit == .withoutIntrinsics ? ["", "", "", ""] : Self.texts(intrinsics)
      cells += ["", ""]
    }
    return cells
  }

  /// The row of `poses.csv`; `nil` when a number is not finite.
  var pose: JSONRow? {
    let values = numbers.compactMap { Double($0) }
    guard edit != .notFinite, let nanoseconds, values.count == 7 else { return nil }
    let q = Quaternion(x: values[3], y: values[4], z: values[5], w: values[6])
    return [frame, nanoseconds, values[0], values[1], values[2], q.x, q.y, q.z, q.w]
  }

  /// The camera of this row alone.
  var ownCamera: PinholeCamera? { edit == .withoutIntrinsics ? nil : intrinsics }

  static func texts(_ camera: PinholeCamera) -> [String] {
    camera.parameters.map { "\(Float($0))" }
  }
}

import Core

/// `cameras/<microseconds>.json` of one frame, as stored and as in a reader's tables.
struct PolycamCameraFile {
  let frame: Int
  private let microseconds: Int64
  /// By columns, ARKit axes.
  private let pose: [Double]
  private let camera: PinholeCamera
  private let edit: PolycamPlan.CameraEdit?

  init(
    frame: Int, plan: PolycamPlan, times: PolycamTimes, state: MotionState, camera: PinholeCamera
  ) {
    self.frame = frame
    microseconds = times.microseconds[frame]
    let isMoved = plan.poseJumpFrame.map { frame >= $0 } ?? false
    pose = state.arkitTransform(shiftedBy: isMoved ? Vector3(15, 0, -10) : .zero).map(Double.init)
    self.camera = camera
    edit = plan.cameras[frame]
  }

  /// The file's content; `nil` if none is written.
  var bytes: [UInt8]? {
    switch edit {
    case .absent: nil
    case .empty: []
    case .cut: Array(text.utf8.prefix(text.utf8.count / 2))
    default: Array(text.utf8)
    }
  }

  private var text: String {
    var members: [(String, String)] = [
      ("fx", "\(camera.fx)"), ("fy", "\(camera.fy)"), ("cx", "\(camera.cx)"),
      ("cy", "\(camera.cy)"), ("width", "\(camera.width)"), ("height", "\(camera.height)"),
      ("blur_score", "\(70 + frame % 7)"), ("neighbors", "[]"), ("manual_keyframe", "false"),
      ("timestamp", "\(edit == .otherTime ? microseconds + 1 : microseconds)"),
    ]
    if edit != .withoutPose {
      for row in 0..<3 {
        for column in 0..<4 {
          let isOdd = edit == .notFinite && row == 1 && column == 3
          members.append(("t_\(row)\(column)", isOdd ? "NaN" : "\(pose[column * 4 + row])"))
        }
      }
    }
    return "{" + members.map { "\"\($0.0)\": \($0.1)" }.joined(separator: ", ") + "}"
  }

  // MARK: What a reader finds

  /// The row of `poses.csv`; `nil` without a pose.
  var poseRow: JSONTree? {
    guard edit != .withoutPose, edit != .notFinite, let pose = Pose(arkitColumnMajor: pose) else {
      return nil
    }
    let q = pose.orientation
    return .array(
      [JSONTree(frame), JSONTree(microseconds * 1_000)]
        + (pose.position + [q.x, q.y, q.z, q.w]).map { JSONTree.number($0) })
  }

  /// The row of `intrinsics.csv`.
  var intrinsicsRow: JSONTree {
    .array(
      [JSONTree(frame), JSONTree(camera.width), JSONTree(camera.height)]
        + [camera.fx, camera.fy, camera.cx, camera.cy].map { JSONTree.number($0) })
  }
}

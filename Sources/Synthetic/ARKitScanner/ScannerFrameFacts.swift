import Core

/// One frame's values in the side files, as stored and as in a reader's tables.
struct ScannerFrameFacts {
  let frame: Int
  let key: String
  let timestamp: Int64?
  /// Column-major, ARKit axes.
  let transform: [Float]
  let intrinsics: PinholeCamera
  let offset: Float
  let exposureSeconds: Double
  let iso: Int
  let isNaN: Bool

  init(
    frame: Int, plan: ScannerPlan, times: ScannerTimes, state: MotionState,
    intrinsics: PinholeCamera, exposureSeconds: Double
  ) {
    self.frame = frame
    key = times.key(frame)
    timestamp = times.recorded(frame)
    let isMoved = plan.poseJumpFrame.map { frame >= $0 } ?? false
    transform = state.arkitTransform(shiftedBy: isMoved ? Vector3(1.5, 0, -1) : .zero)
    self.intrinsics = intrinsics
    offset = Float(Decimals.round(0.328667 - 0.01 * Double(frame % 20), 6))
    self.exposureSeconds = exposureSeconds > 0 ? exposureSeconds : 1.0 / 60
    iso = [100, 125, 160, 200][frame / 8 % 4]
    isNaN = frame == plan.nanPoseFrame
  }

  /// The sixteen numbers as text.
  var transformTexts: [String] {
    var texts = transform.map { "\($0)" }
    if isNaN { texts[13] = "nan" }
    return texts
  }

  var intrinsicTexts: [String] {
    DriftingCamera.columnMajor(intrinsics).map { "\(Float($0))" }
  }

  /// The intrinsics as their stored decimals read back.
  var storedIntrinsics: [Double] {
    [intrinsics.fx, intrinsics.fy, intrinsics.cx, intrinsics.cy].map {
      Double("\(Float($0))") ?? $0
    }
  }

  /// The row of `poses.csv`: frame, time, position, quaternion; `nil` when a number is not finite.
  var poseRow: JSONTree? {
    guard !isNaN, let timestamp,
      let pose = Pose(arkitColumnMajor: transform.map { Double("\($0)") ?? Double($0) })
    else { return nil }
    let q = pose.orientation
    return .array(
      [JSONTree(frame), .integer(timestamp)]
        + (pose.position + [q.x, q.y, q.z, q.w]).map { JSONTree.number($0) })
  }
}

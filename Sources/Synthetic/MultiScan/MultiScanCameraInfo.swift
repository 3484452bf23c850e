import Core

/// One line of the camera info file, and the rows that a reader makes from it.
struct MultiScanCameraInfo {
  let frame: Int
  let timestamp: Int64
  private let transform: [Double]
  private let intrinsics: PinholeCamera
  private let exposureNanoseconds: Int64
  private let isAndroid: Bool

  init(
    frame: Int, timestamp: Int64, state: MotionState, intrinsics: PinholeCamera,
    exposureSeconds: Double, plan: MultiScanPlan
  ) {
    self.frame = frame
    self.timestamp = timestamp
    self.intrinsics = intrinsics
    isAndroid = plan.generation.isAndroid
    let isMoved = plan.poseJumpFrame.map { frame >= $0 } ?? false
    var transform = state.arkitTransform(shiftedBy: isMoved ? Vector3(1.5, 0, -1) : .zero)
      .map { Double($0) }
    // Seen in recordings: the last element deviates slightly, and the others with it.
    if !isAndroid { transform[15] = 0.9999999403953552 }
    self.transform = transform
    exposureNanoseconds = Int64((exposureSeconds * 1e9).rounded(.down))
  }

  var line: JSONTree {
    var members: [String: JSONTree] = [
      "timestamp": .integer(timestamp), "transform": JSONTree(transform),
      "intrinsics": JSONTree(DriftingCamera.columnMajor(intrinsics)),
      "exposure_duration": .integer(exposureNanoseconds),
    ]
    if isAndroid {
      members["euler_angles"] = "null"
    } else {
      members["euler_angles"] = JSONTree(eulerAngles)
      // Composed in another order than the matrix, as in the app.
      if let q = pose?.orientation { members["quaternion"] = JSONTree([q.y, q.z, q.w, q.x]) }
    }
    return .object(members)
  }

  private var pose: Pose? { Pose(arkitColumnMajor: transform) }

  /// Pitch, yaw, roll of `Ry·Rx·Rz`.
  private var eulerAngles: [Double] {
    [
      Trigonometry.arcSine(-transform[9]),
      Trigonometry.arcTangent(y: transform[8], x: transform[10]),
      Trigonometry.arcTangent(y: transform[1], x: transform[5]),
    ]
  }

  var poseRow: JSONTree? {
    guard let pose else { return nil }
    let q = pose.orientation
    return .array(
      [JSONTree(frame), .integer(timestamp)]
        + (pose.position + [q.x, q.y, q.z, q.w]).map { JSONTree.number($0) })
  }

  /// - Parameter size: size of the decoded pictures, else that in the metadata, else `nil`.
  func intrinsicsRow(size: (Int, Int)?) -> JSONTree {
    [
      JSONTree(frame), JSONTree(size?.0), JSONTree(size?.1), .number(intrinsics.fx),
      .number(intrinsics.fy), .number(intrinsics.cx), .number(intrinsics.cy),
    ]
  }

  var settingsRow: JSONTree {
    let isKnown = exposureNanoseconds > 0
    return [
      JSONTree(frame), isKnown ? .number(Double(exposureNanoseconds) / 1e9) : nil, nil, nil,
    ]
  }
}

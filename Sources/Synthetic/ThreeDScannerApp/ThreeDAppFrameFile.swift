import Core

/// `frame_<k>.json` of one frame, as stored and as in a reader's tables.
struct ThreeDAppFrameFile {
  let frame: Int
  private let time: String
  private let nanoseconds: Int64?
  /// Row-major, ARKit axes, times a number near 1.
  private let pose: [Double]
  private let camera: PinholeCamera
  private let exposureSeconds: Double
  private let hasPosition: Bool
  private let edit: ThreeDAppPlan.FrameFileEdit?

  static let latitude = 37.5
  static let longitude = -122.25
  static let accuracy = 4.5
  /// What element 15 is on devices.
  private static let scales: [Float] = [1, 0.999_999_82, 1.000_000_12]

  init(
    frame: Int, plan: ThreeDAppPlan, times: ThreeDAppTimes, state: MotionState,
    camera: PinholeCamera, exposureSeconds: Double
  ) {
    self.frame = frame
    time = "\(times.uptime(frame))"
    nanoseconds = times.recorded(frame)
    let isMoved = plan.poseJumpFrame.map { frame >= $0 } ?? false
    let columns = state.arkitTransform(shiftedBy: isMoved ? Vector3(15, 0, -10) : .zero)
    let scale = Self.scales[frame % Self.scales.count]
    pose = (0..<16).map { Double(columns[$0 % 4 * 4 + $0 / 4] * scale) }
    self.camera = camera
    // 0 stands for unknown.
    self.exposureSeconds =
      frame == 1 ? 0 : Double(Float(exposureSeconds > 0 ? exposureSeconds : 1.0 / 60))
    hasPosition = plan.position == .ofFrames && (frame == 2 || frame == 7)
    edit = plan.frameFiles[frame]
  }

  private var intrinsics: [Double] { [camera.fx, camera.fy, camera.cx, camera.cy] }

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
    var pose = pose.map { "\($0)" }
    if edit == .notFinite { pose[3] = "NaN" }
    if edit == .zeroScale { pose[15] = "0" }
    let (fx, fy, cx, cy) = (camera.fx, camera.fy, camera.cx, camera.cy)
    let matrix = ["\(fx)", "0", "\(cx)", "0", "\(fy)", "\(cy)", "0", "0", "1"]
    var members: [(String, String)] = []
    if edit != .withoutTime { members.append(("time", time)) }
    if edit != .withoutPose { members.append(("cameraPoseARFrame", Self.list(pose))) }
    members += [
      ("frame_index", "\(edit == .otherIndex ? frame + 100 : frame)"),
      ("projectionMatrix", Self.list([String](repeating: "1.5", count: 16))),
      ("motionQuality", "1"), ("averageVelocity", "0"), ("intrinsics", Self.list(matrix)),
      ("cameraGrain", "0"), ("averageAngularVelocity", "0"),
      ("exposureDuration", "\(exposureSeconds)"),
    ]
    if hasPosition {
      members += [
        ("hasGPS", "true"), ("latitude", "\(Self.latitude)"), ("longitude", "\(Self.longitude)"),
        ("horizontalAccuracy", "\(Self.accuracy)"), ("gpsTime", "0"), ("altitude", "31.6"),
      ]
    }
    return "{\n" + members.map { "  \"\($0.0)\" : \($0.1)" }.joined(separator: ",\n") + "\n}"
  }

  private static func list(_ texts: [String]) -> String {
    "[\n" + texts.map { "    \($0)" }.joined(separator: ",\n") + "\n  ]"
  }

  // MARK: What a reader finds

  /// The time in a file that can be read.
  var recordedTime: Int64? { edit == .withoutTime ? nil : nanoseconds }

  /// The row of `poses.csv`; `nil` without a pose.
  var poseRow: JSONTree? {
    guard ![.withoutPose, .notFinite, .zeroScale].contains(edit) else { return nil }
    let columns = (0..<16).map { pose[$0 % 4 * 4 + $0 / 4] }
    guard let pose = Pose(arkitColumnMajor: columns) else { return nil }
    let q = pose.orientation
    return .array(
      [JSONTree(frame), JSONTree(recordedTime)]
        + (pose.position + [q.x, q.y, q.z, q.w]).map { JSONTree.number($0) })
  }

  /// The row of `intrinsics.csv`; the size is `nil` without a color picture.
  func intrinsicsRow(size: (width: Int, height: Int)?) -> JSONTree {
    .array(
      [JSONTree(frame), JSONTree(size?.width), JSONTree(size?.height)]
        + intrinsics.map { JSONTree.number($0) })
  }

  /// The row of `camera_settings.csv`; the app records no ISO.
  var settingsRow: JSONTree {
    [JSONTree(frame), exposureSeconds > 0 ? .number(exposureSeconds) : nil, nil, nil]
  }

  /// The row of `geo.csv`.
  var geoRow: JSONTree? {
    guard hasPosition else { return nil }
    return [
      JSONTree(frame), JSONTree(recordedTime), .number(Self.latitude), .number(Self.longitude),
      .number(Self.accuracy), nil, "measured",
    ]
  }
}

import Core
import Media
import SystemPackage

/// Writes an export of 3D Scanner App, frame by frame.
struct ThreeDAppWriter {
  let plan: ThreeDAppPlan
  let options: SynthesisOptions
  let folder: CaptureFolder
  let rig: Rig
  private let rate: Double
  private let times: ThreeDAppTimes
  private let camera: DriftingCamera

  init(plan: ThreeDAppPlan, options: SynthesisOptions, folder: CaptureFolder, rig: Rig) {
    self.plan = plan
    self.options = options
    self.folder = folder
    self.rig = rig
    rate = options.rate ?? 30
    times = ThreeDAppTimes(plan: plan, rate: rate, seed: options.seed)
    camera = DriftingCamera(rig.color, seed: options.seed)
  }

  func write(id: String, faults: [SyntheticFault]) throws -> [ExpectedWarning] {
    var truth = try TruthWriter(
      folder: folder.truth, rig: rig, frames: plan.frames, pictures: options.truthPictures,
      progress: options.progress)
    let pictures = try writePictures(&truth)
    let files = (0..<plan.frames).map { frame in
      ThreeDAppFrameFile(
        frame: frame, plan: plan, times: times,
        state: rig.motion.state(at: times.worldSeconds(frame)), camera: camera.camera(frame),
        exposureSeconds: options.exposureSeconds)
    }
    if plan.hasFrameFiles {
      for file in files {
        guard let bytes = file.bytes else { continue }
        let name = "frame_\(ThreeDAppPictures.number(file.frame)).json"
        try OutputFile.write(bytes, to: folder.capture.appending(name))
      }
    }
    try writeSides()
    let report = ThreeDAppReport(
      id: id, plan: plan, options: options, rig: rig, rate: rate, faults: faults,
      expectation: ThreeDAppExpectation(plan: plan, files: files),
      depthDigests: pictures.depthDigests, confidenceDigests: pictures.confidenceDigests,
      files: files)
    try truth.finish(expected: report.expected, truth: report.truth)
    return report.expectation.warnings.entries
  }

  private func writePictures(_ truth: inout TruthWriter) throws -> ThreeDAppPictures {
    var pictures = try ThreeDAppPictures(folder.capture, plan: plan)
    var exact = DepthRenderer(room: rig.room, camera: rig.depth)
    var renderer = ColorRenderer(
      room: rig.room, camera: rig.color, settings: options.pictureSettings, seed: options.seed)
    for frame in 0..<plan.frames {
      let state = rig.motion.state(at: times.worldSeconds(frame))
      let nanoseconds = times.recorded(frame) ?? 0
      let color = camera.camera(frame)
      exact.camera = color.scaled(toWidth: rig.depth.width, height: rig.depth.height)
      exact.render(state.viewpoint())
      let lidar = LidarSensor(camera: exact.camera, noise: options.noise, seed: options.seed)
      try pictures.append(
        frame: frame, depth: lidar.depthImage(exact.meters, frame: frame),
        confidence: lidar.confidenceImage(exact.meters))
      try truth.recordDepth(
        frame: frame, nanoseconds: nanoseconds, state: state, exact: exact, color: color)
      guard !plan.color.isAbsent, frame % plan.generation.colorStep == 0 else { continue }
      renderer.camera = color
      try pictures.append(frame: frame, color: renderer.render(frame: frame, state: state))
      try truth.recordColor(frame: frame, nanoseconds: nanoseconds, state: state)
    }
    return pictures
  }

  /// The description of the scan, and files that no reader needs.
  private func writeSides() throws {
    if plan.hasInfo {
      var info: [String: JSONTree] = [
        "title": "Küche", "numImages": JSONTree(plan.frames + plan.surplusDeclared),
        "appVersionString": "1.9.5", "captureMode": plan.generation == .lidar ? 1 : 2,
        "projectVersion": 1,
      ]
      if plan.position == .ofScan {
        info["gpsLatitude"] = .number(ThreeDAppFrameFile.latitude)
        info["gpsLongitude"] = .number(ThreeDAppFrameFile.longitude)
        info["gpsAltitude"] = 31.66
      }
      try OutputFile.write(
        JSONTree.object(info).bytes(pretty: true), to: folder.capture.appending("info.json"))
    }
    for name in ["export.obj", "textured_output.mtl", "points.ply", "world_map.arkit"] {
      try OutputFile.write(Array("# \(name)\n".utf8), to: folder.capture.appending(name))
    }
  }
}

/// Writes the pictures of an export of 3D Scanner App, frame by frame.
struct ThreeDAppPictures {
  private let plan: ThreeDAppPlan
  private let folder: FilePath
  private var files = GrayPictureFiles()
  private let color = JPEGPictureFiles()
  /// Digests of the pixels by frame; `nil` for a hole.
  private(set) var depthDigests: [Digest?] = []
  private(set) var confidenceDigests: [Digest?] = []

  init(_ folder: FilePath, plan: ThreeDAppPlan) throws {
    self.plan = plan
    self.folder = folder
    if plan.depth.hasFarNumber {
      try OutputFile.write([], to: folder.appending("depth_\(PictureFilesPlan.farNumber).png"))
    }
  }

  mutating func append(frame: Int, depth: DepthImage, confidence: GrayImage) throws {
    if !plan.depth.isAbsent {
      try write(files.depth(depth, plan.depth.edits[frame]), "depth_\(Self.number(frame)).png")
    }
    if !plan.confidence.isAbsent {
      try write(
        files.confidence(confidence, plan.confidence.edits[frame]),
        "conf_\(Self.number(frame)).png")
    }
    let isDepthWhole = plan.depth.isReadable(frame)
    depthDigests.append(isDepthWhole ? Digest(of: Bytes.of(depth.millimeters)) : nil)
    let isConfidenceWhole = plan.confidence.isReadable(frame)
    confidenceDigests.append(isConfidenceWhole ? Digest(of: confidence.values) : nil)
  }

  func append(frame: Int, color image: ColorImage) throws {
    try write(color.file(image, plan.color.edits[frame]), "frame_\(Self.number(frame)).jpg")
    if frame == 0 { try write(color.file(image, .otherSize), "thumb_00000.jpg") }
  }

  private func write(_ file: [UInt8]?, _ name: String) throws {
    if let file { try OutputFile.write(file, to: folder.appending(name)) }
  }

  static func number(_ frame: Int) -> String { Decimals.padded(frame, 5) }
}

/// Makes the two truth documents of an export of 3D Scanner App.
struct ThreeDAppReport {
  let id: String
  let plan: ThreeDAppPlan
  let options: SynthesisOptions
  let rig: Rig
  let rate: Double
  let faults: [SyntheticFault]
  let expectation: ThreeDAppExpectation
  let depthDigests: [Digest?]
  let confidenceDigests: [Digest?]
  let files: [ThreeDAppFrameFile]

  var expected: JSONTree {
    let read = files.filter { plan.isRead($0.frame) }
    let pictures = (0..<plan.frames).filter(plan.hasColor)
    let size = pictures.isEmpty ? nil : (width: rig.color.width, height: rig.color.height)
    return [
      "description": .text(
        faults.isEmpty ? "no fault" : faults.map(\.summary).joined(separator: "; ")),
      "family": "3d-scanner-app", "generation": .text(plan.generation.rawValue), "id": .text(id),
      "frames": JSONTree(plan.frames),
      "streams": ["color": color, "depth": depth, "confidence": confidence],
      "depthSha256": JSONTree(depthDigests.map { $0?.hex }),
      "confidenceSha256": JSONTree(confidenceDigests.map { $0?.hex }),
      "colorFrames": JSONTree(pictures.count), "colorCode": .text(FrameCode.howToRead),
      "colorIndex": options.showsFrameCode
        ? JSONTree((0..<plan.frames).map { plan.hasColor($0) ? Int64($0) : nil }) : nil,
      "timestampsNs": [
        "frame": JSONTree(expectation.frameTimes), "color": JSONTree(expectation.colorTimes),
        "depth": JSONTree(expectation.depthTimes),
      ],
      "poses": .array(read.compactMap(\.poseRow)),
      "intrinsics": .array(read.map { $0.intrinsicsRow(size: size) }),
      "imu": nil, "cameraSettings": .array(read.map(\.settingsRow)), "geo": .array(geo(read)),
      "warnings": expectation.warnings.json, "mustFail": [], "mayFail": [], "exitCode": 0,
    ]
  }

  var truth: JSONTree {
    TruthDocument(
      family: "3d-scanner-app", generation: plan.generation.rawValue, id: id, options: options,
      faults: faults, rate: rate, frames: plan.frames, color: rig.color,
      depth: plan.generation.hasDepth ? rig.depth : nil,
      colorFromDepth: plan.generation.hasDepth ? .identity : nil
    ).json
  }

  private func geo(_ read: [ThreeDAppFrameFile]) -> [JSONTree] {
    if plan.position == .ofFrames { return read.compactMap(\.geoRow) }
    guard plan.position == .ofScan, plan.hasInfo else { return [] }
    return [
      [
        0, JSONTree(expectation.frameTimes.first ?? nil), .number(ThreeDAppFrameFile.latitude),
        .number(ThreeDAppFrameFile.longitude), nil, nil, "measured",
      ]
    ]
  }

  private var color: JSONTree {
    guard let count = plan.color.fileCount(frames: plan.colorFrames), count > 0 else { return nil }
    return [
      "encoding": "jpeg", "width": JSONTree(rig.color.width), "height": JSONTree(rig.color.height),
      "frames": JSONTree(count),
    ]
  }

  private var depth: JSONTree { gray(plan.depth, "png-u16") }

  private var confidence: JSONTree { gray(plan.confidence, "png-u8") }

  private func gray(_ files: PictureFilesPlan, _ encoding: String) -> JSONTree {
    guard let count = files.fileCount(frames: 0..<plan.frames) else { return nil }
    return [
      "encoding": .text(encoding), "width": JSONTree(rig.depth.width),
      "height": JSONTree(rig.depth.height), "frames": JSONTree(count),
    ]
  }
}

/// What a reader must find in an export of 3D Scanner App, computed from the plan by the rules of
/// the format.
struct ThreeDAppExpectation {
  let plan: ThreeDAppPlan
  /// Times of the canonical frames; `nil` = empty cell.
  private(set) var frameTimes: [Int64?] = []
  private(set) var colorTimes: [Int64?] = []
  private(set) var depthTimes: [Int64?] = []
  private(set) var warnings = WarningTally()

  init(plan: ThreeDAppPlan, files: [ThreeDAppFrameFile]) {
    self.plan = plan
    for file in files {
      let time = plan.isRead(file.frame) ? file.recordedTime : nil
      frameTimes.append(time)
      colorTimes.append(plan.hasColor(file.frame) ? time : nil)
      depthTimes.append(plan.depth.isReadable(file.frame) ? time : nil)
    }
    plan.color.count(in: &warnings, of: "color")
    plan.depth.count(in: &warnings, of: "depth")
    plan.confidence.count(in: &warnings, of: "confidence")
    guard plan.hasFrameFiles else {
      warnings.add("missing-file", of: "poses")
      warnings.add("timestamps-missing", of: "frames", plan.frames)
      warnings.add("calibration-missing", of: "color")
      return
    }
    countLengths()
    countFrameFiles()
    countTimes()
  }

  private mutating func countLengths() {
    let streams =
      plan.generation.hasDepth
      ? [
        ("depth", plan.depth, Array(0..<plan.frames)),
        ("confidence", plan.confidence, Array(0..<plan.frames)),
      ]
      : [("color", plan.color, plan.colorFrames)]
    for (stream, files, frames) in streams {
      let count = files.fileCount(frames: frames) ?? 0
      warnings.add("frame-count-mismatch", of: stream, abs(count - plan.rowCount))
    }
    guard plan.hasInfo else { return }
    let declared = plan.frames + plan.surplusDeclared
    warnings.add("frame-count-mismatch", of: "poses", abs(declared - plan.rowCount))
  }

  private mutating func countFrameFiles() {
    func count(_ kinds: ThreeDAppPlan.FrameFileEdit...) -> Int {
      plan.frameFiles.values.count { kinds.contains($0) }
    }
    warnings.add("empty-record", of: "poses", count(.empty))
    warnings.add("corrupt-record", of: "poses", count(.cut))
    warnings.add("missing-key", of: "poses", count(.withoutPose))
    warnings.add("non-finite-value", of: "poses", count(.notFinite, .zeroScale))
    warnings.add("pairing-approximate", of: "frames", count(.otherIndex))
    if plan.poseJumpFrame != nil { warnings.add("pose-jump", of: "poses") }
  }

  private mutating func countTimes() {
    let untimed = (0..<plan.frames).count { frame in
      let hasPicture =
        plan.depth.hasFile(frame) || plan.confidence.hasFile(frame)
        || frame % plan.generation.colorStep == 0 && plan.color.hasFile(frame)
      return hasPicture && frameTimes[frame] == nil
    }
    warnings.add("timestamps-missing", of: "frames", untimed)
    // Frames are chosen by motion: no step is a gap.
    let steps = TimeStepCount(frameTimes.filter { $0 != nil }, gapFactor: .infinity)
    warnings.add("timestamps-unordered", of: "frames", steps.backward)
    warnings.add("timestamps-duplicate", of: "frames", steps.repeated)
  }
}

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

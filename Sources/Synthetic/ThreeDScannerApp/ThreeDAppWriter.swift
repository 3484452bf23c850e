import Core
import Media
import SystemPackage

/// Synthesizes exports ("all data") of 3D Scanner App.
enum ThreeDScannerAppFamily: String, SyntheticFamily {
  typealias Plan = ThreeDAppPlan
  /// Uptime at the start, and seconds of the scene by frame.
  typealias Clock = (base: Double, seconds: [Double])

  /// Depth and confidence of every frame, color of every third.
  case lidar
  /// Color of every frame, no depth.
  case highResolution = "high-resolution"

  var hasDepth: Bool { self == .lidar }

  /// Steps between frames with color.
  var colorStep: Int { self == .lidar ? 3 : 1 }

  static let name = "3d-scanner-app"
  static let about =
    "1920x1440 color of every third frame, 256x192 depth and confidence, 30 frames chosen by motion"

  var hasMotion: Bool { false }

  func plan(frames: Int?) -> Plan { Plan(generation: self, frames: frames ?? 30) }

  static func setup(_ plan: Plan, _ options: SynthesisOptions) -> Setup {
    let color = PinholeCamera(
      width: 1920, height: 1440, fx: 1442.8, fy: 1442.8, cx: 964.2, cy: 720.9)
    let moment = SeededNames.moment(seed: options.seed)
    let rate = options.rate ?? 30
    // The app chooses frames by motion: steps of 0.03 to 0.3 seconds.
    var random = SeededRandom(seed: options.seed, "frame times")
    let base = random.uniform(20_000...900_000)
    var next = 0.0
    let seconds = (0..<plan.frames).map { _ in
      defer { next += random.uniform(1...10) / rate }
      return next
    }
    return (
      "\(moment.date("_"))_\(moment.time("_"))", rate, Rig(options, color, depth: (256, 192)),
      (base, seconds)
    )
  }

  static func write(_ work: Synthesis<Self>, _ truth: inout TruthWriter) throws -> Found {
    let plan = work.plan
    let pictures = try work.writePictures(&truth)
    let files = (0..<plan.frames).map { ThreeDAppFrameFile(work, $0) }
    if plan.hasFrameFiles {
      for file in files { try work.write(file.bytes, "frame", file.frame, "json") }
    }
    try work.writeSides()
    let expectation = work.expectation(files)
    return (work.expected(expectation, pictures, files), expectation.warnings)
  }
}

extension Synthesis<ThreeDScannerAppFamily> {
  /// Uptime as the frame's file has it.
  fileprivate func uptimeSeconds(_ frame: Int) -> Double {
    clock.base + clock.seconds[plan.damage.timedFrame(frame)]
  }

  /// The time that a reader finds in a frame's file, nanoseconds.
  fileprivate func recorded(_ frame: Int) -> Int64? {
    Timestamp(decimalSeconds: "\(uptimeSeconds(frame))")?.nanoseconds
  }

  fileprivate func writePictures(_ truth: inout TruthWriter) throws -> GrayPictureFiles {
    var gray = GrayPictureFiles()
    let jpeg = JPEGPictureFiles()
    if plan.depth.hasFarNumber { try write([], "depth", PictureFilesPlan.farNumber, "png") }
    try render(
      plan.frames, &truth, at: { (clock.seconds[$0], recorded($0) ?? 0) },
      camera: camera.camera,
      hasPicture: { !plan.color.isAbsent && $0 % plan.generation.colorStep == 0 }
    ) { frame, view, picture in
      guard let view else { return }
      let depth = view.sensor.depthImage(view.meters, frame: frame)
      try write(gray.depth(depth, frame, of: plan.depth), "depth", frame, "png")
      let confidence = view.sensor.confidenceImage(view.meters)
      try write(gray.confidence(confidence, frame, of: plan.confidence), "conf", frame, "png")
      guard let picture else { return }
      try write(jpeg.file(picture, plan.color.edits[frame]), "frame", frame, "jpg")
      if frame == 0 { try write(jpeg.file(picture, .otherSize), "thumb", frame, "jpg") }
    }
    return gray
  }

  fileprivate func write(_ file: [UInt8]?, _ kind: String, _ number: Int, _ ending: String) throws {
    try write(file, "\(kind)_\(Decimals.padded(number, 5)).\(ending)")
  }

  /// The description of the scan, and files that no reader needs.
  fileprivate func writeSides() throws {
    if plan.hasInfo {
      var info: JSONObject = [
        "title": "Küche", "numImages": plan.frames + plan.surplusDeclared,
        "appVersionString": "1.9.5", "captureMode": plan.generation == .lidar ? 1 : 2,
        "projectVersion": 1,
      ]
      if plan.position == .ofScan {
        info["gpsLatitude"] = ThreeDAppFrameFile.latitude
        info["gpsLongitude"] = ThreeDAppFrameFile.longitude
        info["gpsAltitude"] = 31.66
      }
      try write(info.bytes(pretty: true), "info.json")
    }
    for name in ["export.obj", "textured_output.mtl", "points.ply", "world_map.arkit"] {
      try write("# \(name)\n", name)
    }
  }

  fileprivate func expected(
    _ expectation: Expectation, _ gray: GrayPictureFiles, _ files: [ThreeDAppFrameFile]
  ) -> JSONObject {
    let read = files.filter { plan.isRead($0.frame) }
    let frames = 0..<plan.frames
    let pictures = frames.count(where: plan.hasColor)
    let size = pictures == 0 ? nil : rig.color.size
    let hasColor = plan.color.fileCount(frames: plan.colorFrames) != 0
    return found(
      expectation, hashes(gray.depthDigests), hashes(gray.confidenceDigests),
      colorFrames: pictures, hasColor: plan.hasColor
    ).merging([
      "streams": [
        "color": hasColor
          ? plan.color.json(encoding: "jpeg", rig.color, frames: plan.colorFrames) : nil,
        "depth": plan.depth.json(encoding: "png-u16", rig.depth, frames: frames),
        "confidence": plan.confidence.json(encoding: "png-u8", rig.depth, frames: frames),
      ] as JSONObject,
      "poses": read.compactMap(\.poseRow),
      "intrinsics": read.map { $0.camera.row($0.frame, size) },
      "cameraSettings": read.map(\.settingsRow), "geo": geo(read, expectation),
    ])
  }

  private func geo(_ read: [ThreeDAppFrameFile], _ expectation: Expectation) -> [JSONRow] {
    if plan.position == .ofFrames { return read.compactMap(\.geoRow) }
    guard plan.position == .ofScan, plan.hasInfo else { return [] }
    return [
      [
        0, expectation.frames.first ?? nil, ThreeDAppFrameFile.latitude,
        ThreeDAppFrameFile.longitude, nil, nil, "measured",
      ]
    ]
  }

  // MARK: What a reader must report, by the rules of the format

  fileprivate func expectation(_ files: [ThreeDAppFrameFile]) -> Expectation {
    var expectation = Expectation()
    for file in files {
      expectation.add(
        plan.isRead(file.frame) ? file.recordedTime : nil, hasColor: plan.hasColor(file.frame),
        hasDepth: plan.depth.isReadable(file.frame))
    }
    expectation.warnings = plan.warnings(expectation.frames)
    return expectation
  }
}

extension ThreeDAppPlan {
  fileprivate func warnings(_ times: [Int64?]) -> WarningTally {
    var warnings = WarningTally()
    color.count(in: &warnings, of: "color")
    depth.count(in: &warnings, of: "depth")
    confidence.count(in: &warnings, of: "confidence")
    if hasFrameFiles {
      countLengths(&warnings)
      countFrameFiles(&warnings, times)
    } else {
      warnings.add("missing-file", of: "poses")
      warnings.add("timestamps-missing", of: "frames", frames)
      warnings.add("calibration-missing", of: "color")
    }
    return warnings
  }

  private func countLengths(_ warnings: inout WarningTally) {
    let all = 0..<frames
    let streams =
      generation.hasDepth
      ? [
        ("depth", depth.fileCount(frames: all)), ("confidence", confidence.fileCount(frames: all)),
      ]
      : [("color", color.fileCount(frames: colorFrames))]
    warnings.addLengths(streams.map { (name: $0, count: $1 ?? 0) }, expected: rowCount)
    if hasInfo { warnings.addLengths([("poses", frames + surplusDeclared)], expected: rowCount) }
  }

  private func countFrameFiles(_ warnings: inout WarningTally, _ times: [Int64?]) {
    func count(_ kinds: FrameFileEdit...) -> Int {
      frameFiles.values.count { kinds.contains($0) }
    }
    warnings.add("empty-record", of: "poses", count(.empty))
    warnings.add("corrupt-record", of: "poses", count(.cut))
    warnings.add("missing-key", of: "poses", count(.withoutPose))
    warnings.add("non-finite-value", of: "poses", count(.notFinite, .zeroScale))
    warnings.add("pairing-approximate", of: "frames", count(.otherKey))
    warnings.add("pose-jump", of: "poses", damage.poseJump != nil)
    let untimed = times.indices.count { frame in
      let hasPicture =
        depth.hasFile(frame) || confidence.hasFile(frame)
        || frame % generation.colorStep == 0 && color.hasFile(frame)
      return hasPicture && times[frame] == nil
    }
    warnings.add("timestamps-missing", of: "frames", untimed)
    // Frames are chosen by motion: no step is a gap.
    warnings.addSteps(times.filter { $0 != nil }, gapFactor: .infinity)
  }
}

/// `frame_<k>.json` of one frame, as stored and as in a reader's tables.
struct ThreeDAppFrameFile {
  let frame: Int
  private let time: String
  private let nanoseconds: Int64?
  /// Row-major, ARKit axes, times a number near 1.
  private let pose: [Double]
  let camera: PinholeCamera
  private let exposureSeconds: Double
  private let hasPosition: Bool
  private let edit: FrameFileEdit?

  static let latitude = 37.5
  static let longitude = -122.25
  static let accuracy = 4.5
  /// What element 15 is on devices.
  private static let scales: [Float] = [1, 0.999_999_82, 1.000_000_12]

  init(_ work: Synthesis<ThreeDScannerAppFamily>, _ frame: Int) {
    let (plan, state) = (work.plan, work.rig.motion.state(at: work.clock.seconds[frame]))
    self.frame = frame
    time = "\(work.uptimeSeconds(frame))"
    nanoseconds = work.recorded(frame)
    let columns = state.arkitTransform(shiftedBy: plan.damage.shift(frame))
    let scale = Self.scales[frame % Self.scales.count]
    pose = (0..<16).map { Double(columns[$0 % 4 * 4 + $0 / 4] * scale) }
    camera = work.camera.camera(frame)
    // 0 stands for unknown.
    exposureSeconds = frame == 1 ? 0 : Double(Float(work.options.shownExposureSeconds))
    hasPosition = plan.position == .ofFrames && (frame == 2 || frame == 7)
    edit = plan.frameFiles[frame]
  }

  /// The file's content; `nil` if none is written.
  var bytes: [UInt8]? { edit.bytes(text) }

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
      ("frame_index", "\(edit == .otherKey ? frame + 100 : frame)"),
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
  var poseRow: JSONRow? {
    guard ![.withoutPose, .notFinite, .zeroScale].contains(edit) else { return nil }
    let columns = (0..<16).map { pose[$0 % 4 * 4 + $0 / 4] }
    return Pose(arkitColumnMajor: columns)?.row(frame, recordedTime)
  }

  /// The row of `camera_settings.csv`; the app records no ISO.
  var settingsRow: JSONRow {
    [frame, exposureSeconds > 0 ? exposureSeconds : nil, nil, nil]
  }

  /// The row of `geo.csv`.
  var geoRow: JSONRow? {
    guard hasPosition else { return nil }
    return [
      frame, recordedTime, Self.latitude, Self.longitude,
      Self.accuracy, nil, "measured",
    ]
  }
}

extension ThreeDScannerAppFamily {
  static let plannedFaults: [Fault] = depth + confidence + color + frames + times + info

  private static let depth =
    Fault.files(
      "depth", "depth file", \.depth,
      [(.absent, 4), (.empty, 5), (.cut, 6), (.otherKind, 7), (.otherSize, 3)], in: \.hasDepth) + [
      Fault(
        "far-number", "depth", "a depth file has a number that no recording has",
        \.depth.hasFarNumber, true, in: \.hasDepth)
    ]

  private static let confidence = Fault.files(
    "confidence", "confidence file", \.confidence,
    [(.absent, 5), (.empty, 3), (.cut, 8), (.otherKind, 6), (.otherSize, 2)], in: \.hasDepth)

  private static let color =
    [
      Fault(
        "color-hole", "color", "the color file of frame 6 is not there; no warning beside depth",
        \.color.edits[6], .absent)
    ] + Fault.files("color", "color file", \.color, [(.empty, 3), (.cut, 6), (.otherSize, 9)]) + [
      Fault(
        "missing-color", "color", "no color; no warning", \.color.isAbsent, true, in: \.hasDepth)
    ]

  private static let frames = [
    Fault("missing-frames", "frame files", "no frame_*.json", in: \.hasDepth) {
      $0.hasFrameFiles = false
      $0.position = .none
    },
    Fault("lost-frame", "frame files", "frame_00006.json is not there", \.frameFiles[6], .absent),
    Fault("empty-frame", "frame files", "a frame file of no bytes", \.frameFiles[3], .empty),
    Fault("cut-frame", "frame files", "half a frame file", \.frameFiles[6], .cut),
    Fault(
      "missing-time", "frame files", "a frame file without a time", \.frameFiles[9], .withoutTime),
    Fault(
      "missing-pose", "frame files", "a frame file without a pose", \.frameFiles[4], .withoutPose),
    Fault("nan-pose", "frame files", "a number of pose 5 is NaN", \.frameFiles[5], .notFinite),
    Fault(
      "zero-scale", "frame files", "the last element of pose 7 is 0", \.frameFiles[7], .zeroScale),
    Fault(
      "other-index", "frame files", "frame_index of frame 8 is another number", \.frameFiles[8],
      .otherKey),
  ]

  private static let times = Fault.disorder + [.poseJump("18 m", factor: 10)]

  private static let info = [
    Fault("missing-info", "info", "no info.json; no warning", \.hasInfo, false),
    Fault("other-count", "info", "info.json declares two frames more", \.surplusDeclared, 2),
    Fault("no-position", "position", "no position was recorded; no warning", \.position, .none),
    Fault(
      "frame-positions", "position", "two frames have their own position; no warning", \.position,
      .ofFrames),
  ]
}

/// What an export of 3D Scanner App contains in addition to pictures.
struct ThreeDAppPlan: TrackedPlan {
  enum Position {
    case none
    /// One for the whole scan, in `info.json`.
    case ofScan
    /// Two frames have one of their own.
    case ofFrames
  }

  let generation: ThreeDScannerAppFamily
  let frames: Int

  var color = PictureFilesPlan()
  var depth = PictureFilesPlan()
  var confidence = PictureFilesPlan()
  var frameFiles: [Int: FrameFileEdit] = [:]
  var hasFrameFiles = true
  var hasInfo = true
  /// Declared frames minus frames.
  var surplusDeclared = 0
  var position = Position.ofScan
  var damage = FrameDamage()

  init(generation: ThreeDScannerAppFamily, frames: Int) {
    self.generation = generation
    self.frames = frames
    depth.isAbsent = !generation.hasDepth
    confidence.isAbsent = !generation.hasDepth
  }

  var hasDepthCamera: Bool { generation.hasDepth }

  /// Frames that the app wrote a color picture for.
  var colorFrames: [Int] { Array(stride(from: 0, to: frames, by: generation.colorStep)) }

  /// Whether the frame has a color picture that can be decoded.
  func hasColor(_ frame: Int) -> Bool {
    frame % generation.colorStep == 0 && color.isReadable(frame)
  }

  /// Number of `frame_<k>.json`.
  var rowCount: Int {
    hasFrameFiles ? frames - frameFiles.values.count { $0 == .absent } : 0
  }

  /// Frames whose JSON file can be read.
  func isRead(_ frame: Int) -> Bool {
    hasFrameFiles && frameFiles[frame].isReadable
  }
}

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

  func plan(frames: Int?) -> Plan {
    var plan = Plan(generation: self, frames: frames ?? 30)
    (plan.depth.isAbsent, plan.confidence.isAbsent) = (!hasDepth, !hasDepth)
    return plan
  }

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

  static func times(of frame: Int, in work: Synthesis<Self>) -> FrameTimes {
    (work.clock.seconds[frame], Timestamp(decimalSeconds: work.timeText(frame))?.nanoseconds)
  }

  static func write(_ work: Synthesis<Self>, _ truth: inout TruthWriter) throws -> Found {
    let plan = work.plan
    let digests = try work.writePictures(&truth)
    let facts = (0..<plan.frames).map { frame in
      var own = work.facts(frame)
      // What element 15 is on devices.
      let scale: Float = [1, 0.999_999_82, 1.000_000_12][frame % 3]
      own.transform = own.transform.map { Double(Float($0) * scale) }
      if plan.frameFiles.edits[frame] == .withoutTime { own.time = nil }
      return own
    }
    for own in facts where !plan.frameFiles.isAbsent {
      let file = plan.frameFiles.edits[own.frame].file(work.text(own))
      try work.write(file, "frame", own.frame, "json")
    }
    try work.writeSides()
    let read = facts.filter { plan.frameFiles.isReadable($0.frame) }
    var expectation = work.expectation { plan.frameFiles.isReadable($0) ? facts[$0].time : nil }
    expectation.warnings = plan.warnings(expectation.frames)
    let size = expectation.frames.indices.contains(where: plan.hasColor) ? work.rig.color.size : nil
    return work.found(
      expectation, digests,
      [
        "streams": plan.streams(work.rig, color: "jpeg", depth: "png-u16", confidence: "png-u8"),
        "poses": read.filter { plan.frameFiles.edits[$0.frame].hasPose }.compactMap(\.poseRow),
        "intrinsics": read.map { $0.camera.row($0.frame, size) },
        // The app records no ISO; an exposure of 0 stands for unknown.
        "cameraSettings": read.map { own -> JSONRow in
          [own.frame, own.frame == 1 ? nil : Double(Float(own.exposureSeconds)), nil, nil]
        },
        "geo": plan.geo(read, first: expectation.frames.first ?? nil),
      ])
  }
}

extension Synthesis<ThreeDScannerAppFamily> {
  /// Uptime as the frame's file has it.
  fileprivate func timeText(_ frame: Int) -> String {
    "\(clock.base + clock.seconds[plan.damage.timedFrame(frame)])"
  }

  fileprivate func writePictures(_ truth: inout TruthWriter) throws -> PictureDigests {
    var gray = GrayPictureFiles()
    if plan.depth.hasFarNumber { try write([], "depth", FilesPlan.farNumber, "png") }
    try render(
      &truth, hasPicture: { !plan.color.isAbsent && $0 % plan.generation.colorStep == 0 }
    ) { frame, view, picture in
      try write(
        view, &gray, depth: name("depth", frame, "png"), confidence: name("conf", frame, "png"))
      guard let picture else { return }
      try write(picture.file(plan.color.edits[frame]), "frame", frame, "jpg")
      if frame == 0 { try write(picture.file(.otherSize), "thumb", frame, "jpg") }
    }
    return gray.digests
  }

  private func name(_ kind: String, _ number: Int, _ ending: String) -> String {
    "\(kind)_\(number.padded(5)).\(ending)"
  }

  fileprivate func write(_ file: [UInt8]?, _ kind: String, _ number: Int, _ ending: String) throws {
    try write(file, name(kind, number, ending))
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
        info["gpsLatitude"] = ThreeDAppPlan.latitude
        info["gpsLongitude"] = ThreeDAppPlan.longitude
        info["gpsAltitude"] = 31.66
      }
      try write(info.bytes(pretty: true), "info.json")
    }
    for name in ["export.obj", "textured_output.mtl", "points.ply", "world_map.arkit"] {
      try write("# \(name)\n", name)
    }
  }

  /// The content of `frame_<k>.json`.
  fileprivate func text(_ own: FrameFacts) -> String {
    let (edit, camera) = (plan.frameFiles.edits[own.frame], own.camera)
    var pose = own.rows.joined().map { "\($0)" }
    if edit == .notFinite { pose[3] = "NaN" }
    if edit == .zero { pose[15] = "0" }
    let (fx, fy, cx, cy) = (camera.fx, camera.fy, camera.cx, camera.cy)
    let matrix = ["\(fx)", "0", "\(cx)", "0", "\(fy)", "\(cy)", "0", "0", "1"]
    let exposure = own.frame == 1 ? 0 : Double(Float(own.exposureSeconds))
    var members: [(String, String)] = []
    if edit != .withoutTime { members.append(("time", timeText(own.frame))) }
    if edit != .withoutPose { members.append(("cameraPoseARFrame", Self.list(pose))) }
    members += [
      ("frame_index", "\(edit == .otherKey ? own.frame + 100 : own.frame)"),
      ("projectionMatrix", Self.list([String](repeating: "1.5", count: 16))),
      ("motionQuality", "1"), ("averageVelocity", "0"), ("intrinsics", Self.list(matrix)),
      ("cameraGrain", "0"), ("averageAngularVelocity", "0"), ("exposureDuration", "\(exposure)"),
    ]
    if plan.hasPosition(own.frame) {
      members += [
        ("hasGPS", "true"), ("latitude", "\(ThreeDAppPlan.latitude)"),
        ("longitude", "\(ThreeDAppPlan.longitude)"),
        ("horizontalAccuracy", "\(ThreeDAppPlan.accuracy)"), ("gpsTime", "0"),
        ("altitude", "31.6"),
      ]
    }
    return "{\n" + members.map { "  \"\($0.0)\" : \($0.1)" }.joined(separator: ",\n") + "\n}"
  }

  private static func list(_ texts: [String]) -> String {
    "[\n" + texts.map { "    \($0)" }.joined(separator: ",\n") + "\n  ]"
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
      $0.frameFiles.isAbsent = true
      $0.position = .none
    },
    Fault(
      "lost-frame", "frame files", "frame_00006.json is not there", \.frameFiles.edits[6], .absent),
    Fault("empty-frame", "frame files", "a frame file of no bytes", \.frameFiles.edits[3], .empty),
    Fault("cut-frame", "frame files", "half a frame file", \.frameFiles.edits[6], .cut),
    Fault(
      "missing-time", "frame files", "a frame file without a time", \.frameFiles.edits[9],
      .withoutTime),
    Fault(
      "missing-pose", "frame files", "a frame file without a pose", \.frameFiles.edits[4],
      .withoutPose),
    Fault(
      "nan-pose", "frame files", "a number of pose 5 is NaN", \.frameFiles.edits[5], .notFinite),
    Fault(
      "zero-scale", "frame files", "the last element of pose 7 is 0", \.frameFiles.edits[7], .zero),
    Fault(
      "other-index", "frame files", "frame_index of frame 8 is another number",
      \.frameFiles.edits[8],
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
struct ThreeDAppPlan: PicturesPlan {
  enum Position {
    case none
    /// One for the whole scan, in `info.json`.
    case ofScan
    /// Two frames have one of their own.
    case ofFrames
  }

  fileprivate static let latitude = 37.5
  fileprivate static let longitude = -122.25
  fileprivate static let accuracy = 4.5

  let generation: ThreeDScannerAppFamily
  let frames: Int

  var color = FilesPlan()
  var depth = FilesPlan()
  var confidence = FilesPlan()
  var frameFiles = FilesPlan()
  var hasInfo = true
  /// Declared frames minus frames.
  var surplusDeclared = 0
  var position = Position.ofScan
  var damage = FrameDamage()

  var hasDepthCamera: Bool { generation.hasDepth }

  var colorFrames: [Int] { Array(stride(from: 0, to: frames, by: generation.colorStep)) }

  func hasColor(_ frame: Int) -> Bool {
    frame % generation.colorStep == 0 && color.isReadable(frame)
  }

  fileprivate func hasPosition(_ frame: Int) -> Bool {
    position == .ofFrames && (frame == 2 || frame == 7)
  }

  /// The rows of `geo.csv`; `first` is the time of the first frame.
  fileprivate func geo(_ read: [FrameFacts], first: Int64?) -> [JSONRow] {
    if position == .ofScan, hasInfo {
      return [[0, first, Self.latitude, Self.longitude, nil, nil, "measured"]]
    }
    return read.filter { hasPosition($0.frame) }.map {
      [$0.frame, $0.time, Self.latitude, Self.longitude, Self.accuracy, nil, "measured"]
    }
  }

  /// What a reader must report, by the rules of the format.
  fileprivate func warnings(_ times: [Int64?]) -> WarningTally {
    var warnings = WarningTally()
    for (stream, files) in streams { files.countPictures(of: stream, in: &warnings) }
    guard let rows = frameFiles.fileCount(frames: 0..<frames) else {
      warnings.add("missing-file", of: "poses")
      warnings.add("timestamps-missing", of: "frames", frames)
      warnings.add("calibration-missing", of: "color")
      return warnings
    }
    // Sparse color is not compared.
    let compared = generation.hasDepth ? streams.dropFirst() : streams.prefix(1)
    warnings.addLengths(
      compared.map { ($0.name, $0.files.fileCount(frames: 0..<frames) ?? 0) }, expected: rows)
    if hasInfo { warnings.addLengths([("poses", frames + surplusDeclared)], expected: rows) }
    frameFiles.countPoses(in: &warnings)
    warnings.add("pose-jump", of: "poses", damage.poseJump != nil)
    let untimed = times.indices.count { frame in
      let hasPicture =
        depth.hasFile(frame) || confidence.hasFile(frame)
        || colorFrames.contains(frame) && color.hasFile(frame)
      return hasPicture && times[frame] == nil
    }
    warnings.add("timestamps-missing", of: "frames", untimed)
    // Frames are chosen by motion: no step is a gap.
    warnings.addSteps(times.filter { $0 != nil }, gapFactor: .infinity)
    return warnings
  }
}

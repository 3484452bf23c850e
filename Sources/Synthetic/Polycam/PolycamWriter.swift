import Core
import Media
import SystemPackage

/// Synthesizes exports ("raw data") of Polycam, as far as their format is known.
enum PolycamFamily: String, SyntheticFamily {
  typealias Plan = PolycamPlan
  /// Whole microseconds of uptime by frame.
  typealias Clock = [Int64]

  /// Color, depth and confidence of every frame.
  case lidar
  /// Color of every frame, no depth.
  case photo

  var hasDepth: Bool { self == .lidar }

  static let name = "polycam"
  static let about =
    "1024x768 color, 256x192 depth and confidence, 30 frames chosen by motion (experimental)"

  var hasMotion: Bool { false }

  func plan(frames: Int?) -> Plan {
    var plan = Plan(generation: self, frames: frames ?? 30)
    (plan.depth.isAbsent, plan.confidence.isAbsent) = (!hasDepth, !hasDepth)
    return plan
  }

  static func setup(_ plan: Plan, _ options: SynthesisOptions) -> Setup {
    let color = PinholeCamera(
      width: 1024, height: 768, fx: 766.2, fy: 766.2, cx: 513.4, cy: 382.9)
    let rate = options.rate ?? 10
    // The app chooses frames by motion: steps of 0.1 to 0.7 seconds.
    var random = SeededRandom(seed: options.seed, "frame times")
    var next = Int64(random.uniform(20_000...900_000) * 1e6)
    let clock = (0..<plan.frames).map { _ in
      defer { next += Int64(random.uniform(1...7) / rate * 1e6) }
      return next
    }
    return (
      "polycam-\(SeededNames.moment(seed: options.seed).date("-"))", rate,
      Rig(options, color, depth: (256, 192)), clock
    )
  }

  static func times(of frame: Int, in work: Synthesis<Self>) -> FrameTimes {
    let clock = work.clock
    return (Double(clock[frame] - clock[0]) / 1e6, clock[frame] * 1_000)
  }

  static func write(_ work: Synthesis<Self>, _ truth: inout TruthWriter) throws -> Found {
    let plan = work.plan
    try work.makeFolders()
    let digests = try work.writePictures(&truth)
    let facts = (0..<plan.frames).map(work.facts)
    for own in facts {
      let name = "\(work.clock[own.frame]).json"
      try work.write(
        plan.cameras.edits[own.frame].file(work.text(own)), work.inner("cameras/\(name)"))
      try work.write("{}", work.inner("corrected_cameras/\(name)"))
    }
    // A file's name is its time, whatever is in it.
    var expectation = work.expectation { facts[$0].time }
    expectation.warnings = plan.warnings
    let read = facts.filter { plan.cameras.isReadable($0.frame) }
    return work.found(
      expectation, digests,
      [
        "streams": plan.streams(work.rig, color: "jpeg", depth: "png-u16", confidence: "png-u8"),
        "poses": read.filter { plan.cameras.edits[$0.frame].hasPose }.compactMap(\.poseRow),
        "intrinsics": read.map { $0.camera.row($0.frame, work.rig.color.size) }, "geo": [Int](),
      ])
  }
}

extension Synthesis<PolycamFamily> {
  /// The place of a file of `images`, `depth` and the others.
  fileprivate func inner(_ name: String) -> String {
    plan.hasOuterFolder ? "keyframes/\(name)" : name
  }

  fileprivate func makeFolders() throws {
    if plan.hasOuterFolder {
      try FileSystem.makeFolder(file("keyframes"))
      try write("{}", "mesh_info.json")
    }
    var names = ["cameras", "corrected_cameras", "corrected_images"]
    if !plan.color.isAbsent { names.append("images") }
    if !plan.depth.isAbsent { names.append("depth") }
    if !plan.confidence.isAbsent { names.append("confidence") }
    for name in names { try FileSystem.makeFolder(file(inner(name))) }
    // A time, microseconds, that no other file of the export is near to.
    if plan.depth.hasFarNumber { try write([], inner("depth/5.png")) }
  }

  fileprivate func writePictures(_ truth: inout TruthWriter) throws -> PictureDigests {
    var gray = GrayPictureFiles()
    try render(&truth, hasPicture: { _ in !plan.color.isAbsent }) { frame, view, picture in
      let name = "\(clock[frame])"
      // The app stores low, medium and high so.
      try write(
        view, &gray, depth: inner("depth/\(name).png"),
        confidence: inner("confidence/\(name).png"), confidences: [0, 127, 255])
      guard let picture else { return }
      try write(picture.file(plan.color.edits[frame]), inner("images/\(name).jpg"))
      // What the app makes of it afterwards, which no reader may take for it.
      try write(picture.file(.otherSize), inner("corrected_images/\(name).jpg"))
    }
    return gray.digests
  }

  /// The content of `cameras/<microseconds>.json`.
  fileprivate func text(_ own: FrameFacts) -> String {
    let (edit, camera) = (plan.cameras.edits[own.frame], own.camera)
    let time = clock[own.frame] + (edit == .otherKey ? 1 : 0)
    var members: [(String, String)] = [
      ("fx", "\(camera.fx)"), ("fy", "\(camera.fy)"), ("cx", "\(camera.cx)"),
      ("cy", "\(camera.cy)"), ("width", "\(camera.width)"), ("height", "\(camera.height)"),
      ("blur_score", "\(70 + own.frame % 7)"), ("neighbors", "[]"), ("manual_keyframe", "false"),
      ("timestamp", "\(time)"),
    ]
    for (row, numbers) in own.rows.prefix(3).enumerated() where edit != .withoutPose {
      for (column, number) in numbers.enumerated() {
        let isOdd = edit == .notFinite && row == 1 && column == 3
        members.append(("t_\(row)\(column)", isOdd ? "NaN" : "\(number)"))
      }
    }
    return "{" + members.map { "\"\($0.0)\": \($0.1)" }.joined(separator: ", ") + "}"
  }
}

/// What an export of Polycam contains.
struct PolycamPlan: PicturesPlan {
  let generation: PolycamFamily
  let frames: Int

  var color = FilesPlan()
  var depth = FilesPlan()
  var confidence = FilesPlan()
  var cameras = FilesPlan()
  /// Whether the files lie in `keyframes`, or directly in the capture's folder.
  var hasOuterFolder = true
  var damage = FrameDamage()

  var hasDepthCamera: Bool { generation.hasDepth }

  /// What a reader must report, by the rules of the format.
  fileprivate var warnings: WarningTally {
    var warnings = WarningTally()
    let count = cameras.fileCount(frames: 0..<frames) ?? 0
    for (stream, files) in streams.prefix(generation.hasDepth ? 3 : 1) {
      files.countPictures(of: stream, in: &warnings)
      warnings.add("missing-file", of: stream, files.isAbsent)
      warnings.addLengths([(stream, files.fileCount(frames: 0..<frames))], expected: count)
    }
    cameras.countPoses(in: &warnings)
    warnings.add("pose-jump", of: "poses", damage.poseJump != nil)
    return warnings
  }
}

extension PolycamFamily {
  static let plannedFaults: [Fault] = depth + confidence + color + cameras

  private static let depth =
    Fault.files(
      "depth", "depth file", \.depth,
      [(.absent, 4), (.empty, 5), (.cut, 6), (.otherKind, 7), (.otherSize, 3)], in: \.hasDepth) + [
      Fault(
        "far-time", "depth", "a depth file is named by a time of another recording",
        \.depth.hasFarNumber, true, in: \.hasDepth)
    ]

  private static let confidence =
    Fault.files(
      "confidence", "confidence file", \.confidence, [(.absent, 5), (.cut, 8)], in: \.hasDepth) + [
      Fault(
        "missing-confidence", "confidence", "no confidence", \.confidence.isAbsent, true,
        in: \.hasDepth)
    ]

  private static let color =
    Fault.files(
      "color", "picture", \.color, [(.absent, 6), (.empty, 3), (.cut, 6), (.otherSize, 9)]) + [
      Fault("missing-color", "color", "no pictures", \.color.isAbsent, true, in: \.hasDepth)
    ]

  private static let cameras = [
    Fault(
      "lost-camera", "cameras", "the camera file of frame 6 is not there", \.cameras.edits[6],
      .absent),
    Fault("empty-camera", "cameras", "a camera file of no bytes", \.cameras.edits[3], .empty),
    Fault("cut-camera", "cameras", "half a camera file", \.cameras.edits[6], .cut),
    Fault(
      "missing-pose", "cameras", "a camera file without a pose", \.cameras.edits[4], .withoutPose),
    Fault("nan-pose", "cameras", "a number of pose 5 is NaN", \.cameras.edits[5], .notFinite),
    Fault(
      "other-time", "cameras", "a timestamp is not the time of the file's name",
      \.cameras.edits[8], .otherKey),
    .poseJump("18 m", factor: 10),
    Fault(
      "no-keyframes", "folders", "only the folder keyframes was copied; no warning",
      \.hasOuterFolder, false),
  ]
}

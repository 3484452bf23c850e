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

  func plan(frames: Int?) -> Plan { Plan(generation: self, frames: frames ?? 30) }

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

  static func write(_ work: Synthesis<Self>, _ truth: inout TruthWriter) throws -> Found {
    try work.makeFolders()
    let pictures = try work.writePictures(&truth)
    let files = (0..<work.plan.frames).map { PolycamCameraFile(work, $0) }
    for file in files { try work.write(file) }
    return (work.expected(pictures, files), work.plan.warnings)
  }
}

extension Synthesis<PolycamFamily> {
  /// The place of a file of `images`, `depth` and the others.
  private func inner(_ name: String) -> String { plan.hasOuterFolder ? "keyframes/\(name)" : name }

  /// Time of a frame in the scene, seconds.
  fileprivate func worldSeconds(_ frame: Int) -> Double { Double(clock[frame] - clock[0]) / 1e6 }

  private func nanoseconds(_ frame: Int) -> Int64 { clock[frame] * 1_000 }

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

  fileprivate func writePictures(_ truth: inout TruthWriter) throws -> GrayPictureFiles {
    var gray = GrayPictureFiles()
    let jpeg = JPEGPictureFiles()
    try render(
      plan.frames, &truth, at: { (worldSeconds($0), nanoseconds($0)) },
      camera: camera.camera, hasPicture: { _ in !plan.color.isAbsent }
    ) { frame, depth, picture in
      guard let depth else { return }
      let name = "\(clock[frame])"
      var confidence = depth.sensor.confidenceImage(depth.meters)
      // The app stores low, medium and high so.
      confidence = GrayImage(
        width: confidence.width, height: confidence.height,
        values: confidence.values.map { [0, 127, 255][Int(min($0, 2))] })
      let millimeters = depth.sensor.depthImage(depth.meters, frame: frame)
      try write(gray.depth(millimeters, frame, of: plan.depth), inner("depth/\(name).png"))
      try write(
        gray.confidence(confidence, frame, of: plan.confidence), inner("confidence/\(name).png"))
      guard let picture else { return }
      try write(jpeg.file(picture, plan.color.edits[frame]), inner("images/\(name).jpg"))
      // What the app makes of it afterwards, which no reader may take for it.
      try write(jpeg.file(picture, .otherSize), inner("corrected_images/\(name).jpg"))
    }
    return gray
  }

  /// Writes a camera file, and one that the app has improved.
  fileprivate func write(_ file: PolycamCameraFile) throws {
    let name = "\(clock[file.frame]).json"
    try write(file.bytes, inner("cameras/\(name)"))
    try write("{}", inner("corrected_cameras/\(name)"))
  }

  fileprivate func expected(
    _ pictures: GrayPictureFiles, _ files: [PolycamCameraFile]
  ) -> JSONObject {
    let read = files.filter { plan.isRead($0.frame) }
    let frames = 0..<plan.frames
    // A file's name is its time, whatever is in it.
    var expectation = Expectation()
    for frame in frames {
      expectation.add(
        nanoseconds(frame), hasColor: plan.color.isReadable(frame),
        hasDepth: plan.depth.isReadable(frame))
    }
    return found(
      expectation, hashes(pictures.depthDigests), hashes(pictures.confidenceDigests),
      colorFrames: frames.count(where: plan.color.isReadable), hasColor: plan.color.isReadable
    ).merging([
      "streams": [
        "color": plan.color.json(encoding: "jpeg", rig.color, frames: frames),
        "depth": plan.depth.json(encoding: "png-u16", rig.depth, frames: frames),
        "confidence": plan.confidence.json(encoding: "png-u8", rig.depth, frames: frames),
      ] as JSONObject,
      "poses": read.compactMap(\.poseRow), "geo": [Int](),
      "intrinsics": read.map { $0.camera.row($0.frame, rig.color.size) },
    ])
  }
}

extension PolycamPlan {
  /// What a reader must report, by the rules of the format.
  fileprivate var warnings: WarningTally {
    var warnings = WarningTally()
    var streams = [("color", color)]
    if generation.hasDepth {
      streams += [("depth", depth), ("confidence", confidence)]
    }
    for (stream, files) in streams {
      files.count(in: &warnings, of: stream)
      if files.isAbsent { warnings.add("missing-file", of: stream) }
      let count = files.fileCount(frames: 0..<frames)
      warnings.addLengths([(stream, count)], expected: cameraCount)
    }
    func count(_ kind: FrameFileEdit) -> Int {
      cameras.values.count { $0 == kind }
    }
    warnings.add("empty-record", of: "poses", count(.empty))
    warnings.add("corrupt-record", of: "poses", count(.cut))
    warnings.add("missing-key", of: "poses", count(.withoutPose))
    warnings.add("non-finite-value", of: "poses", count(.notFinite))
    warnings.add("pairing-approximate", of: "frames", count(.otherKey))
    warnings.add("pose-jump", of: "poses", damage.poseJump != nil)
    return warnings
  }
}

/// `cameras/<microseconds>.json` of one frame, as stored and as in a reader's tables.
struct PolycamCameraFile {
  let frame: Int
  private let microseconds: Int64
  /// By columns, ARKit axes.
  private let pose: [Double]
  let camera: PinholeCamera
  private let edit: FrameFileEdit?

  init(_ work: Synthesis<PolycamFamily>, _ frame: Int) {
    self.frame = frame
    microseconds = work.clock[frame]
    pose = work.rig.motion.state(at: work.worldSeconds(frame))
      .arkitTransform(shiftedBy: work.plan.damage.shift(frame)).map(Double.init)
    camera = work.camera.camera(frame)
    edit = work.plan.cameras[frame]
  }

  /// The file's content; `nil` if none is written.
  var bytes: [UInt8]? { edit.bytes(text) }

  private var text: String {
    var members: [(String, String)] = [
      ("fx", "\(camera.fx)"), ("fy", "\(camera.fy)"), ("cx", "\(camera.cx)"),
      ("cy", "\(camera.cy)"), ("width", "\(camera.width)"), ("height", "\(camera.height)"),
      ("blur_score", "\(70 + frame % 7)"), ("neighbors", "[]"), ("manual_keyframe", "false"),
      ("timestamp", "\(edit == .otherKey ? microseconds + 1 : microseconds)"),
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

  /// The row of `poses.csv` that a reader finds; `nil` without a pose.
  var poseRow: JSONRow? {
    guard edit != .withoutPose, edit != .notFinite else { return nil }
    return Pose(arkitColumnMajor: pose)?.row(frame, microseconds * 1_000)
  }
}

/// What an export of Polycam contains.
struct PolycamPlan: TrackedPlan {
  let generation: PolycamFamily
  let frames: Int

  var color = PictureFilesPlan()
  var depth = PictureFilesPlan()
  var confidence = PictureFilesPlan()
  var cameras: [Int: FrameFileEdit] = [:]
  /// Whether the files lie in `keyframes`, or directly in the capture's folder.
  var hasOuterFolder = true
  var damage = FrameDamage()

  init(generation: PolycamFamily, frames: Int) {
    self.generation = generation
    self.frames = frames
    depth.isAbsent = !generation.hasDepth
    confidence.isAbsent = !generation.hasDepth
  }

  var hasDepthCamera: Bool { generation.hasDepth }

  /// Number of camera files, readable or not.
  var cameraCount: Int { frames - cameras.values.count { $0 == .absent } }

  /// Whether a frame's camera file can be read.
  func isRead(_ frame: Int) -> Bool { cameras[frame].isReadable }
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
      "lost-camera", "cameras", "the camera file of frame 6 is not there", \.cameras[6], .absent),
    Fault("empty-camera", "cameras", "a camera file of no bytes", \.cameras[3], .empty),
    Fault("cut-camera", "cameras", "half a camera file", \.cameras[6], .cut),
    Fault("missing-pose", "cameras", "a camera file without a pose", \.cameras[4], .withoutPose),
    Fault("nan-pose", "cameras", "a number of pose 5 is NaN", \.cameras[5], .notFinite),
    Fault(
      "other-time", "cameras", "a timestamp is not the time of the file's name", \.cameras[8],
      .otherKey),
    .poseJump("18 m", factor: 10),
    Fault(
      "no-keyframes", "folders", "only the folder keyframes was copied; no warning",
      \.hasOuterFolder, false),
  ]
}

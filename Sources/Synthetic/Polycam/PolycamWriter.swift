import Core
import Media
import SystemPackage

/// Writes an export of Polycam, frame by frame.
struct PolycamWriter {
  let plan: PolycamPlan
  let options: SynthesisOptions
  let folder: CaptureFolder
  let rig: Rig
  private let rate: Double
  private let times: PolycamTimes
  private let camera: DriftingCamera

  init(plan: PolycamPlan, options: SynthesisOptions, folder: CaptureFolder, rig: Rig) {
    self.plan = plan
    self.options = options
    self.folder = folder
    self.rig = rig
    rate = options.rate ?? 10
    times = PolycamTimes(frames: plan.frames, rate: rate, seed: options.seed)
    camera = DriftingCamera(rig.color, seed: options.seed)
  }

  func write(id: String, faults: [SyntheticFault]) throws -> [ExpectedWarning] {
    var truth = try TruthWriter(
      folder: folder.truth, rig: rig, frames: plan.frames, pictures: options.truthPictures,
      progress: options.progress)
    var inner = folder.capture
    if plan.hasOuterFolder {
      inner = inner.appending("keyframes")
      try FileSystem.makeFolder(inner)
      try OutputFile.write(Array("{}".utf8), to: folder.capture.appending("mesh_info.json"))
    }
    var pictures = try PolycamPictures(inner, plan: plan)
    try write(&pictures, &truth)
    let files = (0..<plan.frames).map { frame in
      PolycamCameraFile(
        frame: frame, plan: plan, times: times,
        state: rig.motion.state(at: times.worldSeconds(frame)), camera: camera.camera(frame))
    }
    for file in files {
      try pictures.append(times.microseconds[file.frame], camera: file.bytes)
    }
    let report = PolycamReport(
      id: id, plan: plan, options: options, rig: rig, rate: rate, times: times, faults: faults,
      depthDigests: pictures.depthDigests, confidenceDigests: pictures.confidenceDigests,
      files: files)
    try truth.finish(expected: report.expected, truth: report.truth)
    return report.warnings.entries
  }

  private func write(_ pictures: inout PolycamPictures, _ truth: inout TruthWriter) throws {
    var exact = DepthRenderer(room: rig.room, camera: rig.depth)
    var renderer = ColorRenderer(
      room: rig.room, camera: rig.color, settings: options.pictureSettings, seed: options.seed)
    for frame in 0..<plan.frames {
      let state = rig.motion.state(at: times.worldSeconds(frame))
      let nanoseconds = times.nanoseconds(frame)
      let color = camera.camera(frame)
      exact.camera = color.scaled(toWidth: rig.depth.width, height: rig.depth.height)
      exact.render(state.viewpoint())
      let lidar = LidarSensor(camera: exact.camera, noise: options.noise, seed: options.seed)
      try pictures.append(
        frame: frame, times.microseconds[frame],
        depth: lidar.depthImage(exact.meters, frame: frame),
        confidence: lidar.confidenceImage(exact.meters))
      try truth.recordDepth(
        frame: frame, nanoseconds: nanoseconds, state: state, exact: exact, color: color)
      guard !plan.color.isAbsent else { continue }
      renderer.camera = color
      try pictures.append(
        frame: frame, times.microseconds[frame], color: renderer.render(frame: frame, state: state))
      try truth.recordColor(frame: frame, nanoseconds: nanoseconds, state: state)
    }
  }
}

/// Writes the pictures of an export of Polycam, frame by frame.
struct PolycamPictures {
  private let plan: PolycamPlan
  private let folder: FilePath
  private var gray = GrayPictureFiles()
  private let jpeg = JPEGPictureFiles()
  /// Digests of the pixels by frame; `nil` for a hole.
  private(set) var depthDigests: [Digest?] = []
  private(set) var confidenceDigests: [Digest?] = []

  /// A time, microseconds, that no other file of the export is near to.
  private static let farMicroseconds = 5

  /// - Parameter folder: that of `images`, `depth` and the others.
  init(_ folder: FilePath, plan: PolycamPlan) throws {
    self.plan = plan
    self.folder = folder
    var names = ["cameras", "corrected_cameras", "corrected_images"]
    if !plan.color.isAbsent { names.append("images") }
    if !plan.depth.isAbsent { names.append("depth") }
    if !plan.confidence.isAbsent { names.append("confidence") }
    for name in names { try FileSystem.makeFolder(folder.appending(name)) }
    if plan.depth.hasFarNumber {
      try OutputFile.write(
        [], to: folder.appending("depth").appending("\(Self.farMicroseconds).png"))
    }
  }

  mutating func append(
    frame: Int, _ microseconds: Int64, depth: DepthImage, confidence: GrayImage
  ) throws {
    // The app stores low, medium and high so.
    let stored = GrayImage(
      width: confidence.width, height: confidence.height,
      values: confidence.values.map { [0, 127, 255][Int(min($0, 2))] })
    if !plan.depth.isAbsent {
      try write(self.gray.depth(depth, plan.depth.edits[frame]), "depth", "\(microseconds).png")
    }
    if !plan.confidence.isAbsent {
      try write(
        self.gray.confidence(stored, plan.confidence.edits[frame]), "confidence",
        "\(microseconds).png")
    }
    depthDigests.append(
      plan.depth.isReadable(frame) ? Digest(of: Bytes.of(depth.millimeters)) : nil)
    confidenceDigests.append(plan.confidence.isReadable(frame) ? Digest(of: stored.values) : nil)
  }

  /// Writes a picture, and what the app makes of it afterwards, which no reader may take for it.
  func append(frame: Int, _ microseconds: Int64, color image: ColorImage) throws {
    let name = "\(microseconds).jpg"
    try write(jpeg.file(image, plan.color.edits[frame]), "images", name)
    try write(jpeg.file(image, .otherSize), "corrected_images", name)
  }

  /// Writes a camera file, and one that the app has improved.
  func append(_ microseconds: Int64, camera bytes: [UInt8]?) throws {
    try write(bytes, "cameras", "\(microseconds).json")
    try write(Array("{}".utf8), "corrected_cameras", "\(microseconds).json")
  }

  private func write(_ file: [UInt8]?, _ inner: String, _ name: String) throws {
    if let file { try OutputFile.write(file, to: folder.appending(inner).appending(name)) }
  }
}

/// Makes the two truth documents of an export of Polycam, by the rules of the format.
struct PolycamReport {
  let id: String
  let plan: PolycamPlan
  let options: SynthesisOptions
  let rig: Rig
  let rate: Double
  let times: PolycamTimes
  let faults: [SyntheticFault]
  let depthDigests: [Digest?]
  let confidenceDigests: [Digest?]
  let files: [PolycamCameraFile]

  var expected: JSONTree {
    let read = files.filter { plan.isRead($0.frame) }
    return [
      "description": .text(
        faults.isEmpty ? "no fault" : faults.map(\.summary).joined(separator: "; ")),
      "family": "polycam", "generation": .text(plan.generation.rawValue), "id": .text(id),
      "frames": JSONTree(plan.frames),
      "streams": [
        "color": stream(plan.color, "jpeg", rig.color),
        "depth": stream(plan.depth, "png-u16", rig.depth),
        "confidence": stream(plan.confidence, "png-u8", rig.depth),
      ],
      "depthSha256": JSONTree(depthDigests.map { $0?.hex }),
      "confidenceSha256": JSONTree(confidenceDigests.map { $0?.hex }),
      "colorFrames": JSONTree((0..<plan.frames).count(where: plan.color.isReadable)),
      "colorCode": .text(FrameCode.howToRead),
      "colorIndex": options.showsFrameCode
        ? JSONTree((0..<plan.frames).map { plan.color.isReadable($0) ? Int64($0) : nil }) : nil,
      // A file's name is its time, whatever is in it.
      "timestampsNs": [
        "frame": JSONTree((0..<plan.frames).map { Int64?.some(times.nanoseconds($0)) }),
        "color": JSONTree(known(plan.color)), "depth": JSONTree(known(plan.depth)),
      ],
      "poses": .array(read.compactMap(\.poseRow)),
      "intrinsics": .array(read.map(\.intrinsicsRow)),
      "imu": nil, "cameraSettings": [], "geo": [], "warnings": warnings.json, "mustFail": [],
      "mayFail": [], "exitCode": 0,
    ]
  }

  var truth: JSONTree {
    TruthDocument(
      family: "polycam", generation: plan.generation.rawValue, id: id, options: options,
      faults: faults, rate: rate, frames: plan.frames, color: rig.color,
      depth: plan.generation.hasDepth ? rig.depth : nil,
      colorFromDepth: plan.generation.hasDepth ? .identity : nil
    ).json
  }

  var warnings: WarningTally {
    var warnings = WarningTally()
    var streams = [("color", plan.color)]
    if plan.generation.hasDepth {
      streams += [("depth", plan.depth), ("confidence", plan.confidence)]
    }
    for (stream, files) in streams {
      files.count(in: &warnings, of: stream)
      guard let count = files.fileCount(frames: 0..<plan.frames) else {
        warnings.add("missing-file", of: stream)
        continue
      }
      warnings.add("frame-count-mismatch", of: stream, abs(count - plan.cameraCount))
    }
    func count(_ kind: PolycamPlan.CameraEdit) -> Int {
      plan.cameras.values.count { $0 == kind }
    }
    warnings.add("empty-record", of: "poses", count(.empty))
    warnings.add("corrupt-record", of: "poses", count(.cut))
    warnings.add("missing-key", of: "poses", count(.withoutPose))
    warnings.add("non-finite-value", of: "poses", count(.notFinite))
    warnings.add("pairing-approximate", of: "frames", count(.otherTime))
    if plan.poseJumpFrame != nil { warnings.add("pose-jump", of: "poses") }
    return warnings
  }

  private func known(_ files: PictureFilesPlan) -> [Int64?] {
    (0..<plan.frames).map { files.isReadable($0) ? times.nanoseconds($0) : nil }
  }

  private func stream(
    _ files: PictureFilesPlan, _ encoding: String, _ camera: PinholeCamera
  ) -> JSONTree {
    guard let count = files.fileCount(frames: 0..<plan.frames) else { return nil }
    return [
      "encoding": .text(encoding), "width": JSONTree(camera.width),
      "height": JSONTree(camera.height), "frames": JSONTree(count),
    ]
  }
}

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

/// The times of frames, whole microseconds of uptime, which the app chooses by motion: steps of 0.1 to
/// 0.7 seconds.
struct PolycamTimes {
  /// Microseconds by frame.
  let microseconds: [Int64]

  init(frames: Int, rate: Double, seed: UInt64) {
    var random = SeededRandom(seed: seed, "frame times")
    var next = Int64(random.uniform(20_000...900_000) * 1e6)
    microseconds = (0..<frames).map { _ in
      defer { next += Int64(random.uniform(1...7) / rate * 1e6) }
      return next
    }
  }

  /// Time of a frame in the scene, seconds.
  func worldSeconds(_ frame: Int) -> Double {
    Double(microseconds[frame] - (microseconds.first ?? 0)) / 1e6
  }

  func nanoseconds(_ frame: Int) -> Int64 { microseconds[frame] * 1_000 }
}

/// What an export of Polycam contains.
struct PolycamPlan {
  /// Damage to the camera file of one frame.
  enum CameraEdit {
    case absent
    case empty
    /// Only the first half is there.
    case cut
    case withoutPose
    case notFinite
    /// The file's timestamp is not the time of its name.
    case otherTime
  }

  let generation: PolycamGeneration
  let frames: Int

  var color = PictureFilesPlan()
  var depth = PictureFilesPlan()
  var confidence = PictureFilesPlan()
  var cameras: [Int: CameraEdit] = [:]
  /// Whether the files lie in `keyframes`, or directly in the capture's folder.
  var hasOuterFolder = true
  var poseJumpFrame: Int?

  init(generation: PolycamGeneration, frames: Int) {
    self.generation = generation
    self.frames = frames
    depth.isAbsent = !generation.hasDepth
    confidence.isAbsent = !generation.hasDepth
  }

  /// Number of camera files, readable or not.
  var cameraCount: Int { frames - cameras.values.count { $0 == .absent } }

  /// Whether a frame's camera file can be read.
  func isRead(_ frame: Int) -> Bool { ![.absent, .empty, .cut].contains(cameras[frame]) }
}

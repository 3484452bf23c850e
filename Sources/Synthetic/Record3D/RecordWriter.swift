import Core
import Media
import SystemPackage

/// Digests of the pixels by frame; `nil` for a hole.
private typealias RecordDigests = (depth: [Digest?], confidence: [Digest?])

/// Synthesizes recordings of Record3D: the app's own file, the same unpacked, and "EXR + JPG".
enum Record3DFamily: SyntheticFamily {
  typealias Generation = RecordForm
  typealias Plan = RecordPlan
  typealias Times = RecordTimes

  static let name = "record3d"
  static let about =
    "720x960 color in portrait, 192x256 depth and confidence, 60 frames at 60 per second"

  static func plan(_ form: Generation, frames: Int?) -> Plan {
    RecordPlan(form: form, frames: frames ?? 60)
  }

  static func setup(_ plan: Plan, _ options: SynthesisOptions) -> Setup {
    let color = PinholeCamera(
      width: 720, height: 960, fx: 723.6, fy: 723.6, cx: 361.85, cy: 478.9)
    let moment = SeededNames.moment(seed: options.seed)
    let rate = options.rate ?? 60
    return (
      "\(moment.date())--\(moment.time())", rate, Rig(options, color, depth: (192, 256)),
      RecordTimes(plan: plan, rate: rate, seed: options.seed)
    )
  }

  static func write(_ work: Synthesis<Self>, _ truth: inout TruthWriter) throws -> Found {
    let (plan, times) = (work.plan, work.times)
    let facts = (0..<plan.frames).map { frame in
      RecordFacts(
        frame: frame, plan: plan, times: times,
        state: work.rig.motion.state(at: times.worldSeconds(frame)),
        camera: work.camera.camera(frame))
    }
    let metadata = try RecordMetadata(
      plan: plan, times: times, rate: work.rate, color: work.rig.color, depth: work.rig.depth,
      facts: facts
    ).bytes()
    var files = try RecordFiles(work.folder.capture, plan: plan)
    let isLast = plan.archiveEnd == .inMetadata
    let name = plan.form.metadataName
    if !isLast { try files.append(name, metadata, .deflated) }
    let digests = try work.writePictures(to: &files, &truth)
    if isLast { try files.append(name, metadata, .deflated, isEnd: true) }
    try files.finish()
    let expectation = RecordExpectation(plan: plan, times: times)
    return (work.expected(expectation, digests, facts), expectation.warnings)
  }
}

extension Synthesis<Record3DFamily> {
  fileprivate func writePictures(
    to files: inout RecordFiles, _ truth: inout TruthWriter
  ) throws -> RecordDigests {
    var digests: RecordDigests = ([], [])
    let color = JPEGPictureFiles()
    var exact = depthRenderer
    var renderer = colorRenderer
    let form = plan.form
    for frame in 0..<plan.frames {
      let state = rig.motion.state(at: times.worldSeconds(frame))
      let nanoseconds = times.recorded(frame) ?? 0
      renderer.camera = camera.camera(frame)
      if !plan.color.isAbsent {
        let picture = renderer.render(frame: frame, state: state)
        let name = "\(form.colorFolder)/\(frame).jpg"
        try files.append(name, color.file(picture, plan.color.edits[frame]))
        if frame == plan.doubledFrame { try files.append(name, color.file(picture, .otherSize)) }
        try truth.recordColor(frame: frame, nanoseconds: nanoseconds, state: state)
      }
      exact.camera = renderer.camera.scaled(toWidth: rig.depth.width, height: rig.depth.height)
      exact.render(state.viewpoint())
      try truth.recordDepth(
        frame: frame, nanoseconds: nanoseconds, state: state, exact: exact,
        color: renderer.camera)
      try writeDepth(frame, exact, to: &files, &digests)
    }
    if plan.depth.hasFarNumber {
      try files.append("\(form.depthFolder)/\(PictureFilesPlan.farNumber).\(form.depthEnding)", [])
    }
    return digests
  }

  private func writeDepth(
    _ frame: Int, _ exact: DepthRenderer, to files: inout RecordFiles,
    _ digests: inout RecordDigests
  ) throws {
    let form = plan.form
    let depthFile = RecordDepthFile(plan: plan, width: rig.depth.width, height: rig.depth.height)
    let lidar = lidar(exact.camera)
    let meters = depthFile.stored(lidar.measure(exact.meters, frame: frame), frame: frame)
    let confidence = lidar.confidence(exact.meters)
    let isEnd = plan.archiveEnd == .inDepth && frame == plan.frames - 2
    if !plan.depth.isAbsent {
      // What a cut copy lacks is written first.
      let edit = plan.archiveEnd == .inDepth ? nil : plan.depth.edits[frame]
      try files.append(
        "\(form.depthFolder)/\(frame).\(form.depthEnding)", depthFile.depth(meters, edit),
        frame % 2 == 0 ? .stored : .deflated, hasWrongChecksum: frame == plan.wrongChecksumFrame,
        isEnd: isEnd)
    }
    if !plan.confidence.isAbsent {
      try files.append(
        "rgbd/\(frame).conf", depthFile.confidence(confidence, plan.confidence.edits[frame]),
        .deflatedWithDescriptor)
    }
    let millimeters = depthFile.millimeters(meters)
    digests.depth.append(plan.hasDepth(frame) ? Digest(of: Bytes.of(millimeters)) : nil)
    digests.confidence.append(
      plan.confidence.isReadable(frame) ? Digest(of: confidence) : nil)
  }

  fileprivate func expected(
    _ expectation: RecordExpectation, _ digests: RecordDigests, _ facts: [RecordFacts]
  ) -> [String: JSONTree] {
    let frames = 0..<plan.frames
    let pictures = frames.filter(plan.hasColor)
    let hasPoses = plan.isDescribed && plan.tracking == .present
    return [
      "frames": JSONTree(plan.frames),
      "streams": [
        "color": plan.color.json(encoding: "jpeg", rig.color, frames: frames),
        "depth": plan.depth.json(
          encoding: plan.form == .exr ? "exr-f16" : plan.isRaw ? "raw-f32" : "lzfse-f32",
          rig.depth, frames: frames),
        "confidence": plan.confidence.json(
          encoding: plan.isRaw ? "raw-u8" : "lzfse-u8", rig.depth, frames: frames),
      ],
      "depthSha256": JSONTree(digests.depth.map { $0?.hex }),
      "confidenceSha256": JSONTree(digests.confidence.map { $0?.hex }),
      "colorFrames": JSONTree(pictures.count), "colorCode": .text(FrameCode.howToRead),
      "colorIndex": frameCodes(plan.frames, where: plan.hasColor),
      "timestampsNs": [
        "frame": JSONTree(expectation.frameTimes), "color": JSONTree(expectation.colorTimes),
        "depth": JSONTree(expectation.depthTimes),
      ],
      "poses": .array(hasPoses ? facts.compactMap(\.poseRow) : []),
      "intrinsics": .array(intrinsics(facts)), "imu": nil, "cameraSettings": [], "geo": [],
      "mustFail": [], "mayFail": [], "exitCode": 0,
    ]
  }

  private func intrinsics(_ facts: [RecordFacts]) -> [JSONTree] {
    guard plan.isDescribed, plan.intrinsics != .absent else { return [] }
    return facts.map { own in
      let shown = plan.intrinsics == .ofFrames ? own : facts[0]
      return .array(
        [JSONTree(own.frame), JSONTree(rig.color.width), JSONTree(rig.color.height)]
          + shown.intrinsics.map { JSONTree.number($0) })
    }
  }
}

/// The metadata of a Record3D recording.
struct RecordMetadata {
  let plan: RecordPlan
  let times: RecordTimes
  let rate: Double
  let color: PinholeCamera
  let depth: PinholeCamera
  let facts: [RecordFacts]

  /// The file's content; `nil` if none is written.
  func bytes() throws -> [UInt8]? {
    guard plan.metadata != .absent else { return nil }
    let text = try members()
    return plan.metadata == .cut ? Array(text.prefix(text.count / 2)) : text
  }

  private func members() throws -> [UInt8] {
    var members: [String: JSONTree] = [
      "w": JSONTree(color.width), "h": JSONTree(color.height), "fps": .number(rate),
      "initPose": JSONTree(RecordFacts.identity), "deviceType": 14,
      "cameraType": plan.tracking == .faceID ? 0 : 1, "poses": .array(facts.map(\.pose)),
    ]
    if plan.statesDepthSize {
      members["dw"] = JSONTree(depth.width)
      members["dh"] = JSONTree(depth.height)
    }
    switch plan.intrinsics {
    case .ofFrames:
      members["K"] = facts.first?.columnMajor
      members["perFrameIntrinsicCoeffs"] = .array(facts.map { JSONTree($0.intrinsics) })
    case .ofRecording: members["K"] = facts.first?.columnMajor
    case .rowMajor: members["K"] = facts.first?.rowMajor
    case .absent: break
    }
    if plan.times != .absent {
      let count = plan.times == .short ? plan.frames - 2 : plan.frames
      members["frameTimestamps"] = .array(
        (0..<count).map { .number(Double(times.text($0)) ?? 0) })
    }
    return try JSONTree.object(members).bytes()
  }
}

/// The place of a recording's files: a folder or an archive.
struct RecordFiles {
  private let plan: RecordPlan
  private let root: FilePath
  private var archive: ZIPFile?
  /// Where a cut copy ends.
  private var end: Int?

  init(_ path: FilePath, plan: RecordPlan) throws {
    self.plan = plan
    root = plan.form == .exr ? path.appending("EXR_RGBD") : path
    if plan.form == .r3d {
      archive = try ZIPFile(path)
      return
    }
    try FileSystem.makeFolder(root)
    for folder in Set([plan.form.colorFolder, plan.form.depthFolder]) {
      try FileSystem.makeFolder(root.appending(folder))
    }
  }

  mutating func append(
    _ name: String, _ bytes: [UInt8]?, _ method: ZIPFile.Method = .stored,
    hasWrongChecksum: Bool = false, isEnd: Bool = false
  ) throws {
    guard let bytes else { return }
    guard archive != nil else {
      return try OutputFile.write(bytes, to: root.pushing(FilePath(name)))
    }
    let place = try archive?.append(name, bytes, method, hasWrongChecksum: hasWrongChecksum)
    if isEnd, let place { end = place.offset + place.byteCount / 2 }
  }

  mutating func finish() throws {
    if plan.hasHostileNames {
      for name in ["../outside.jpg", "/tmp/outside.jpg", "C:\\outside.jpg"] {
        try append(name, Array("outside".utf8))
      }
    }
    try archive?.finish()
    guard let end else { return }
    let file = try FileDescriptor.open(root, .writeOnly)
    try file.closeAfter { try file.resize(to: Int64(end)) }
  }
}

/// What a reader must find in a Record3D recording, computed from the plan by the rules of the
/// format.
struct RecordExpectation {
  let plan: RecordPlan
  /// Number of canonical frames.
  let frames: Int
  /// Times of the canonical frames; `nil` = empty cell.
  private(set) var frameTimes: [Int64?] = []
  private(set) var colorTimes: [Int64?] = []
  private(set) var depthTimes: [Int64?] = []
  private(set) var warnings = WarningTally()

  init(plan: RecordPlan, times: RecordTimes) {
    self.plan = plan
    frames = plan.frames
    for frame in 0..<frames {
      let time = times.recorded(frame)
      frameTimes.append(time)
      colorTimes.append(plan.hasColor(frame) ? time : nil)
      depthTimes.append(plan.hasDepth(frame) ? time : nil)
    }
    countPictures()
    countArchive()
    countMetadata()
    countLengths()
  }

  private mutating func countPictures() {
    plan.color.count(in: &warnings, of: "color")
    plan.confidence.count(in: &warnings, of: "confidence")
    guard !plan.depth.isAbsent else {
      warnings.add("missing-file", of: "depth")
      if plan.color.isAbsent { warnings.add("missing-file", of: "color") }
      return
    }
    if plan.color.isAbsent { warnings.add("missing-file", of: "color") }
    let edits = plan.depth.edits.values
    warnings.add("empty-record", of: "depth", edits.count { $0 == .empty })
    // Only EXR states its size; other values are too few.
    let isSized = plan.form == .exr
    let other = edits.count { $0 == .otherSize }
    warnings.add("size-mismatch", of: "depth", isSized ? other : 0)
    warnings.add(
      "corrupt-record", of: "depth",
      edits.count { $0 == .cut } + (isSized ? 0 : other) + (plan.depth.hasFarNumber ? 1 : 0)
        + (plan.wrongChecksumFrame == nil ? 0 : 1))
    if plan.nonFiniteFrame != nil { warnings.add("non-finite-value", of: "depth") }
  }

  private mutating func countArchive() {
    if plan.archiveEnd != .whole { warnings.add("truncated-stream", of: "record3d") }
    if plan.hasHostileNames { warnings.add("path-outside-capture", of: "record3d", 3) }
    if plan.doubledFrame != nil { warnings.add("multiple-streams", of: "color") }
  }

  private mutating func countMetadata() {
    guard plan.isDescribed else {
      warnings.add(plan.metadata == .cut ? "corrupt-record" : "missing-file", of: "metadata")
      warnings.add("timestamps-missing", of: "frames", frames)
      warnings.add("calibration-missing", of: "color")
      return
    }
    if plan.intrinsics == .absent { warnings.add("calibration-missing", of: "color") }
    if plan.tracking == .lost { warnings.add("untracked-poses", of: "poses", plan.frames) }
    if plan.zeroPoseFrame != nil { warnings.add("non-finite-value", of: "poses") }
    if plan.poseJumpFrame != nil { warnings.add("pose-jump", of: "poses") }
    guard plan.times != .absent else {
      warnings.add("timestamps-missing", of: "frames", frames)
      return
    }
    warnings.add("timestamps-missing", of: "frames", frameTimes.count { $0 == nil })
    let steps = TimeStepCount(frameTimes.filter { $0 != nil }, gapFactor: 1.5)
    warnings.add("frame-gap", of: "frames", steps.gaps)
    warnings.add("timestamps-unordered", of: "frames", steps.backward)
    warnings.add("timestamps-duplicate", of: "frames", steps.repeated)
  }

  private mutating func countLengths() {
    let color = plan.color.fileCount(frames: 0..<plan.frames)
    let depth = plan.depth.fileCount(frames: 0..<plan.frames)
    let confidence = plan.confidence.fileCount(frames: 0..<plan.frames)
    for (stream, count) in [("color", color), ("depth", depth), ("confidence", confidence)] {
      guard let count else { continue }
      warnings.add("frame-count-mismatch", of: stream, abs(count - frames))
    }
    guard let color, let depth else { return }
    warnings.add("color-shorter-than-depth", of: "color", depth - color)
    warnings.add("depth-shorter-than-color", of: "depth", color - depth)
  }
}

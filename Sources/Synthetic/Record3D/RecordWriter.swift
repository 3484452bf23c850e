import Core
import Media
import SystemPackage

/// Synthesizes recordings of Record3D: the app's own file, the same unpacked, and "EXR + JPG".
enum Record3DFamily: String, SyntheticFamily {
  typealias Plan = RecordPlan
  typealias Clock = SampleClock

  /// One ZIP file.
  case r3d
  /// An unpacked `.r3d`.
  case folder = "r3d-folder"
  /// "EXR + JPG".
  case exr

  var metadataName: String { self == .exr ? "metadata.json" : "metadata" }
  var colorFolder: String { self == .exr ? "rgb" : "rgbd" }
  var depthFolder: String { self == .exr ? "depth" : "rgbd" }
  var depthEnding: String { self == .exr ? "exr" : "depth" }
  var hasConfidence: Bool { self != .exr }

  static let name = "record3d"
  static let about =
    "720x960 color in portrait, 192x256 depth and confidence, 60 frames at 60 per second"

  var hasMotion: Bool { false }

  func plan(frames: Int?) -> Plan { Plan(form: self, frames: frames ?? 60) }

  static func setup(_ plan: Plan, _ options: SynthesisOptions) -> Setup {
    let color = PinholeCamera(
      width: 720, height: 960, fx: 723.6, fy: 723.6, cx: 361.85, cy: 478.9)
    let moment = SeededNames.moment(seed: options.seed)
    let rate = options.rate ?? 60
    return (
      "\(moment.date())--\(moment.time())", rate, Rig(options, color, depth: (192, 256)),
      SampleClock(
        startNanoseconds: 0, rate: rate, jitterSeconds: 0.000_002, seed: options.seed, "frames")
    )
  }

  static func times(of frame: Int, in work: Synthesis<Self>) -> FrameTimes {
    (work.worldSeconds(frame), work.recorded(frame))
  }

  static func write(_ work: Synthesis<Self>, _ truth: inout TruthWriter) throws -> Found {
    let plan = work.plan
    let facts = (0..<plan.frames).map(work.facts)
    let poses = (0..<plan.frames).map(work.pose)
    let metadata = try work.metadata(facts, poses)
    var files = try RecordFiles(work.folder.capture, plan: plan)
    let isLast = plan.archiveEnd == .inMetadata
    let name = plan.form.metadataName
    if !isLast { try files.append(name, metadata, .deflated) }
    let digests = try work.writePictures(to: &files, &truth)
    if isLast { try files.append(name, metadata, .deflated, isEnd: true) }
    try files.finish()
    var expectation = work.expectation { facts[$0].time }
    expectation.warnings = plan.warnings(expectation.frames)
    let depth = plan.form == .exr ? "exr-f16" : plan.isRaw ? "raw-f32" : "lzfse-f32"
    let hasCamera = plan.isDescribed && plan.intrinsics != .absent
    return work.found(
      expectation, digests,
      [
        "streams": plan.streams(
          work.rig, color: "jpeg", depth: depth, confidence: plan.isRaw ? "raw-u8" : "lzfse-u8"),
        "poses": plan.isDescribed && plan.tracking == .present
          ? facts.compactMap { Self.poseRow($0, poses[$0.frame]) } : [],
        "intrinsics": (hasCamera ? facts : []).map { own in
          (plan.intrinsics == .ofFrames ? own : facts[0]).camera.row(
            own.frame, work.rig.color.size)
        },
        "geo": [Int](),
      ])
  }

  /// The row of `poses.csv`; `nil` for a rotation of zero.
  private static func poseRow(_ own: FrameFacts, _ pose: [Double]) -> JSONRow? {
    guard pose[..<4].contains(where: { $0 != 0 }) else { return nil }
    // A half turn about the camera's x axis: y down, z forward.
    let q = Quaternion(x: pose[3], y: pose[2], z: -pose[1], w: -pose[0])
    return [own.frame, own.time, pose[4], pose[5], pose[6], q.x, q.y, q.z, q.w]
  }
}

extension Synthesis<Record3DFamily> {
  fileprivate func writePictures(
    to files: inout RecordFiles, _ truth: inout TruthWriter
  ) throws -> PictureDigests {
    var digests = PictureDigests()
    let form = plan.form
    try render(&truth, hasPicture: { _ in !plan.color.isAbsent }) { frame, view, picture in
      if let picture {
        let name = "\(form.colorFolder)/\(frame).jpg"
        try files.append(name, picture.file(plan.color.edits[frame]))
        if frame == plan.doubledFrame { try files.append(name, picture.file(.otherSize)) }
      }
      if let view { try write(view, to: &files, &digests) }
    }
    if plan.depth.hasFarNumber {
      try files.append("\(form.depthFolder)/\(FilesPlan.farNumber).\(form.depthEnding)", [])
    }
    return digests
  }

  private func write(
    _ view: DepthView, to files: inout RecordFiles, _ digests: inout PictureDigests
  ) throws {
    let (form, frame) = (plan.form, view.frame)
    let (meters, confidence) = (stored(view), view.confidence)
    if !plan.depth.isAbsent {
      // What a cut copy lacks is written first.
      let edit = plan.archiveEnd == .inDepth ? nil : plan.depth.edits[frame]
      try files.append(
        "\(form.depthFolder)/\(frame).\(form.depthEnding)", depthFile(meters, edit),
        frame % 2 == 0 ? .stored : .deflated, hasWrongChecksum: frame == plan.wrongChecksumFrame,
        isEnd: plan.archiveEnd == .inDepth && frame == plan.frames - 2)
    }
    if !plan.confidence.isAbsent {
      try files.append(
        "rgbd/\(frame).conf", confidenceFile(confidence, plan.confidence.edits[frame]),
        .deflatedWithDescriptor)
    }
    digests.depth.append(plan.hasDepth(frame) ? Digest(of: Bytes.of(meters.millimeters)) : nil)
    digests.confidence.append(
      plan.confidence.isReadable(frame) ? Digest(of: confidence) : nil)
  }
}

extension RecordPlan {
  /// What a reader must report, by the rules of the format.
  fileprivate func warnings(_ times: [Int64?]) -> WarningTally {
    var warnings = WarningTally()
    countPictures(&warnings)
    countMetadata(&warnings, times)
    return warnings
  }

  private func countPictures(_ warnings: inout WarningTally) {
    let lengths = streams.map { (name: $0.name, count: $0.files.fileCount(frames: 0..<frames)) }
    warnings.addLengths(lengths, expected: frames)
    warnings.addDifference(color: lengths[0].count, depth: lengths[1].count)
    for (name, files) in streams.prefix(2) {
      warnings.add("missing-file", of: name, files.isAbsent)
    }
    color.countPictures(of: "color", in: &warnings)
    confidence.countPictures(of: "confidence", in: &warnings)
    var sized = depth
    if form != .exr {
      // Only EXR states its size; other values are too few.
      sized.edits = depth.edits.mapValues { $0 == .otherSize ? .cut : $0 }
    }
    sized.countPictures(of: "depth", in: &warnings)
    guard !depth.isAbsent else { return }
    warnings.add("corrupt-record", of: "depth", wrongChecksumFrame != nil)
    warnings.add("non-finite-value", of: "depth", nonFiniteFrame != nil)
  }

  private func countMetadata(_ warnings: inout WarningTally, _ found: [Int64?]) {
    warnings.add("truncated-stream", of: "record3d", archiveEnd != .whole)
    if hasHostileNames { warnings.add("path-outside-capture", of: "record3d", 3) }
    warnings.add("multiple-streams", of: "color", doubledFrame != nil)
    let isTimed = isDescribed && times != .absent
    warnings.add(
      "timestamps-missing", of: "frames", isTimed ? found.count { $0 == nil } : frames)
    if isTimed { warnings.addSteps(found.filter { $0 != nil }) }
    if !isDescribed || intrinsics == .absent {
      warnings.add("calibration-missing", of: "color")
    }
    guard isDescribed else {
      return warnings.add(
        metadata == .cut ? "corrupt-record" : "missing-file", of: "metadata")
    }
    if tracking == .lost { warnings.add("untracked-poses", of: "poses", frames) }
    warnings.add("non-finite-value", of: "poses", zeroPoseFrame != nil)
    warnings.add("pose-jump", of: "poses", damage.poseJump != nil)
  }
}

extension Synthesis<Record3DFamily> {
  /// The metadata; `nil` if none are written.
  fileprivate func metadata(_ facts: [FrameFacts], _ poses: [[Double]]) throws -> [UInt8]? {
    guard plan.metadata != .absent else { return nil }
    var members: JSONObject = [
      "w": rig.color.width, "h": rig.color.height, "fps": rate,
      "initPose": Self.identity, "deviceType": 14,
      "cameraType": plan.tracking == .faceID ? 0 : 1, "poses": poses,
    ]
    if plan.statesDepthSize {
      members["dw"] = rig.depth.width
      members["dh"] = rig.depth.height
    }
    let first = facts[0].camera
    switch plan.intrinsics {
    case .ofFrames:
      members["K"] = first.columnMajor
      members["perFrameIntrinsicCoeffs"] = facts.map(\.camera.parameters)
    case .ofRecording: members["K"] = first.columnMajor
    case .rowMajor: members["K"] = [first.fx, 0, first.cx, 0, first.fy, first.cy, 0, 0, 1]
    case .absent: break
    }
    if plan.times != .absent {
      members["frameTimestamps"] = (0..<timeCount).map { Double(timeText($0)) ?? 0 }
    }
    let text = try members.bytes()
    return plan.metadata == .cut ? Array(text.prefix(text.count / 2)) : text
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

/// Encodes depth and confidence of one frame.
extension Synthesis<Record3DFamily> {
  /// What the app stores: NaN where nothing was measured, as above 4.5 m.
  private func stored(_ view: DepthView) -> [Float] {
    var meters = view.meters.map { $0 > 4.5 ? Float.nan : $0 }
    if view.frame == plan.nonFiniteFrame { meters = meters.with(.infinity, -.infinity, -0.5) }
    return plan.form == .exr ? meters.map { Float(Float16($0)) } : meters
  }

  /// The file of a depth picture; `nil` if none is written.
  private func depthFile(_ meters: [Float], _ edit: ItemEdit?) throws -> [UInt8]? {
    let (width, height) = rig.depth.size
    return try edit.file {
      try whole(meters, width: width, height: height)
    } otherSize: {
      try whole(
        meters.halved(width: width), width: width / 2, height: height / 2)
    }
  }

  /// The file of a confidence picture; `nil` if none is written.
  private func confidenceFile(_ values: [UInt8], _ edit: ItemEdit?) -> [UInt8]? {
    edit == .cut
      ? Array(packed(values).prefix(values.count / 2)) : edit.file { packed(values) }
  }

  private func whole(_ meters: [Float], width: Int, height: Int) throws -> [UInt8] {
    if plan.form == .exr { return try EXRFile.bytes(meters, width: width, height: height) }
    return packed(meters.flatMap { Bytes.of($0.bitPattern) })
  }

  /// An LZFSE stream of one block without compression, as the reference encoder writes for what does
  /// not shrink.
  private func packed(_ bytes: [UInt8]) -> [UInt8] {
    plan.isRaw
      ? bytes
      : Array("bvx-".utf8) + Bytes.of(UInt32(bytes.count)) + bytes + Array("bvx$".utf8)
  }
}

/// OpenEXR files of one channel `R` of half-precision numbers, compressed in blocks of 16 lines.
enum EXRFile {
  private static let linesOfBlock = 16

  static func bytes(_ values: [Float], width: Int, height: Int) throws -> [UInt8] {
    var file: [UInt8] = [0x76, 0x2f, 0x31, 0x01, 2, 0, 0, 0]
    let window =
      Bytes.of(Int32(0)) + Bytes.of(Int32(0)) + Bytes.of(Int32(width - 1))
      + Bytes.of(Int32(height - 1))
    let one = Bytes.of(Float(1).bitPattern)
    // Half precision is type 1; then linear, three reserved bytes, sampling in both directions.
    let channel =
      text("R") + Bytes.of(Int32(1)) + [0, 0, 0, 0] + Bytes.of(Int32(1)) + Bytes.of(Int32(1))
    file += attribute("channels", "chlist", channel + [0])
    file += attribute("compression", "compression", [3])
    file += attribute("dataWindow", "box2i", window)
    file += attribute("displayWindow", "box2i", window)
    file += attribute("lineOrder", "lineOrder", [0])
    file += attribute("pixelAspectRatio", "float", one)
    file += attribute("screenWindowCenter", "v2f", Bytes.of(UInt64(0)))
    file += attribute("screenWindowWidth", "float", one)
    file.append(0)
    var blocks: [[UInt8]] = []
    for top in stride(from: 0, to: height, by: linesOfBlock) {
      let bottom = min(height, top + linesOfBlock)
      let halves = values[top * width..<bottom * width].map { Float16($0).bitPattern }
      let raw = Bytes.of(halves)
      let packed = try DeflateEncoder.compress(predicted(raw), format: .zlib)
      // A block that does not shrink is stored as it is.
      let data = packed.count < raw.count ? packed : raw
      blocks.append(Bytes.of(Int32(top)) + Bytes.of(Int32(data.count)) + data)
    }
    var offset = file.count + 8 * blocks.count
    for block in blocks {
      file += Bytes.of(UInt64(offset))
      offset += block.count
    }
    return file + blocks.joined()
  }

  /// Even bytes, then odd ones, each as its difference to the one before.
  private static func predicted(_ raw: [UInt8]) -> [UInt8] {
    let halves =
      stride(from: 0, to: raw.count, by: 2).map { raw[$0] }
      + stride(from: 1, to: raw.count, by: 2).map { raw[$0] }
    return halves.indices.map {
      $0 == 0 ? halves[0] : halves[$0] &- halves[$0 - 1] &+ 128
    }
  }

  private static func attribute(_ name: String, _ type: String, _ value: [UInt8]) -> [UInt8] {
    text(name) + text(type) + Bytes.of(Int32(value.count)) + value
  }

  private static func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }
}

/// The times of a Record3D recording: seconds since the first frame.
extension Synthesis<Record3DFamily> {
  private static var identity: [Double] { [0, 0, 0, 1, 0, 0, 0] }

  /// qx, qy, qz, qw, x, y, z: camera to world, ARKit axes.
  fileprivate func pose(_ frame: Int) -> [Double] {
    guard plan.tracking == .present else { return Self.identity }
    let state = rig.motion.state(at: worldSeconds(frame))
    let turn = state.worldFromCamera
    let q = Quaternion(
      rotation: Matrix3(x: turn.x, y: turn.y * -1, z: turn.z * -1).rowMajor)
    let rotation = frame == plan.zeroPoseFrame ? [0, 0, 0, 0] : [q.x, q.y, q.z, q.w]
    return (rotation + (state.position + plan.damage.shift(frame)).array).map { Double(Float($0)) }
  }

  /// Time of a frame in the scene, seconds.
  fileprivate func worldSeconds(_ frame: Int) -> Double {
    // Finer than nanoseconds.
    frame == 0 ? 0 : Double(taken(frame) - taken(0)) / 1e9 + 0.37e-9
  }

  /// The number of seconds in the metadata.
  func timeText(_ frame: Int) -> String {
    let shown = plan.damage.timedFrame(frame)
    return shown == 0 ? "0" : "\(worldSeconds(shown))"
  }

  /// The time that a reader finds for a frame, nanoseconds.
  fileprivate func recorded(_ frame: Int) -> Int64? {
    guard plan.isDescribed else { return nil }
    if plan.times == .absent {
      return Int64((Double(frame) * 1e9 / rate).rounded(.toNearestOrAwayFromZero))
    }
    return frame < timeCount ? Timestamp(decimalSeconds: timeText(frame))?.nanoseconds : nil
  }

  /// Number of times in the metadata.
  private var timeCount: Int { plan.frames - (plan.times == .short ? 2 : 0) }
}

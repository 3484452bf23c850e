import Core
import Media
import SystemPackage

/// Writes an ARKit-Scanner capture, frame by frame.
struct ScannerWriter {
  let plan: ScannerPlan
  let options: SynthesisOptions
  let folder: CaptureFolder
  let rig: Rig
  let rate: Double
  private let times: ScannerTimes
  private let camera: DriftingCamera

  init(plan: ScannerPlan, options: SynthesisOptions, folder: CaptureFolder, rig: Rig) {
    self.plan = plan
    self.options = options
    self.folder = folder
    self.rig = rig
    rate = options.rate ?? 60
    times = ScannerTimes(plan: plan, rate: rate, seed: options.seed)
    camera = DriftingCamera(rig.color, seed: options.seed)
  }

  func write(id: String, faults: [SyntheticFault]) throws -> [ExpectedWarning] {
    var truth = try TruthWriter(
      folder: folder.truth, rig: rig, frames: plan.frames, pictures: options.truthPictures,
      progress: options.progress)
    let digests = try writeFrames(&truth)
    let motion = motionSamples()
    try ScannerSideFiles(
      folder: folder.capture, plan: plan, times: times, color: rig.color,
      depthWidth: rig.depth.width, depthHeight: rig.depth.height, facts: facts,
      motion: motion.map { ($0.key, $0.sample) }
    ).write()
    let report = ScannerReport(
      id: id, plan: plan, options: options, rig: rig, rate: rate, faults: faults,
      expectation: ScannerExpectation(plan: plan, times: times, isWhole: digests.map { $0 != nil }),
      depthDigests: digests, facts: facts,
      motion: motion.compactMap { sample in
        sample.nanoseconds.map { (nanoseconds: $0, sample: sample.sample) }
      })
    try truth.finish(expected: report.expected, truth: report.truth)
    return report.expectation.warnings.entries
  }

  private func writeFrames(_ truth: inout TruthWriter) throws -> [Digest?] {
    let videoPath = folder.capture.appending(plan.generation.videoFile)
    var form = VideoSink.Form(
      container: plan.generation == .scannetpp ? .matroska : .mp4, bFrames: 2)
    form.matrix = .bt709
    form.range = .limited
    let video =
      plan.hasVideo
      ? try VideoSink(videoPath, form, camera: rig.color, options: options) : nil
    var depth = try ScannerDepthWriter(
      folder.capture.appending(plan.generation.depthFile), plan: plan, seed: options.seed)
    var exact = DepthRenderer(room: rig.room, camera: rig.depth)
    var renderer = ColorRenderer(
      room: rig.room, camera: rig.color, settings: options.pictureSettings, seed: options.seed)
    for frame in 0..<max(plan.frames, plan.pictures) {
      let state = rig.motion.state(at: times.worldSeconds(frame))
      let nanoseconds = times.recorded(frame) ?? 0
      let color = camera.camera(frame)
      renderer.camera = color
      exact.camera = color.scaled(toWidth: rig.depth.width, height: rig.depth.height)
      if frame < plan.frames {
        exact.render(state.viewpoint())
        let lidar = LidarSensor(camera: exact.camera, noise: options.noise, seed: options.seed)
        try depth.append(frame: frame, meters: lidar.measure(exact.meters, frame: frame))
        try truth.recordDepth(
          frame: frame, nanoseconds: nanoseconds, state: state, exact: exact, color: color)
      }
      guard let video else { continue }
      // The app's video clock counts pictures: 1/60 s each, regardless of dropped frames.
      renderer.reuse(video.spare())
      try video.append(renderer.render(frame: frame, state: state), ticks: Int64(frame) * 10)
      try truth.recordColor(frame: frame, nanoseconds: nanoseconds, state: state)
    }
    try video?.finish()
    try depth.finish()
    if plan.isKilled, plan.hasVideo { try MovieDamage.removeIndex(of: videoPath) }
    return depth.digests
  }

  private func facts(_ frame: Int) -> ScannerFrameFacts {
    // Early generations store only the last frame's matrix.
    let shown = plan.generation.hasIntrinsicsPerFrame ? frame : plan.frames - 1
    return ScannerFrameFacts(
      frame: frame, plan: plan, times: times,
      state: rig.motion.state(at: times.worldSeconds(frame)), intrinsics: camera.camera(shown),
      exposureSeconds: options.exposureSeconds)
  }

  private func motionSamples() -> [(key: String, nanoseconds: Int64?, sample: InertialSample)] {
    var sensors = InertialSensors(
      motion: rig.motion, noise: options.noise, offsetSeconds: options.imuOffsetSeconds,
      seed: options.seed)
    return times.motionSamples.map {
      ($0.key, $0.nanoseconds, sensors.sample(at: times.worldSeconds(ofUptime: $0.uptime)))
    }
  }
}

/// Makes the two truth documents of an ARKit-Scanner capture.
struct ScannerReport {
  let id: String
  let plan: ScannerPlan
  let options: SynthesisOptions
  let rig: Rig
  let rate: Double
  let faults: [SyntheticFault]
  let expectation: ScannerExpectation
  let depthDigests: [Digest?]
  let facts: (Int) -> ScannerFrameFacts
  let motion: [(nanoseconds: Int64, sample: InertialSample)]

  var expected: JSONTree {
    let known = plan.isKilled ? [] : (0..<plan.frames).map(facts)
    let isReleased = plan.generation == .scannetpp
    let poses = known.compactMap { isReleased ? ScannerRelease.poseRow($0) : $0.poseRow }
    return [
      "description": .text(
        faults.isEmpty ? "no fault" : faults.map(\.summary).joined(separator: "; ")),
      "family": "arkit-scanner", "generation": .text(plan.generation.rawValue), "id": .text(id),
      "frames": JSONTree(plan.canonicalFrames),
      "streams": [
        "color": plan.hasVideo
          ? [
            "file": .text(plan.generation.videoFile), "encoding": "h264",
            "width": JSONTree(rig.color.width), "height": JSONTree(rig.color.height),
            "frames": JSONTree(plan.readablePictures),
          ] : nil,
        "depth": [
          "file": .text(plan.generation.depthFile), "encoding": .text(encoding),
          "width": JSONTree(rig.depth.width), "height": JSONTree(rig.depth.height),
          "frames": JSONTree(plan.depthFrames.count),
        ],
        "imu": plan.isKilled || motion.isEmpty ? nil : ["samples": motionRows.counts],
        "poses": plan.isKilled ? nil : ["frames": JSONTree(poses.count)],
      ],
      "depthSha256": JSONTree(
        (0..<plan.canonicalFrames).map { $0 < depthDigests.count ? depthDigests[$0]?.hex : nil }),
      "confidenceSha256": [],
      "colorFrames": JSONTree(plan.readablePictures),
      "colorCode": .text(FrameCode.howToRead),
      "colorIndex": options.showsFrameCode
        ? JSONTree(Array(0..<plan.readablePictures)) : nil,
      "timestampsNs": [
        "frame": JSONTree(expectation.frameTimes), "color": JSONTree(expectation.colorTimes),
        "depth": JSONTree(expectation.depthTimes),
      ],
      "poses": .array(poses),
      "intrinsics": .array(
        known.map {
          .array(
            [JSONTree($0.frame), JSONTree(rig.color.width), JSONTree(rig.color.height)]
              + $0.storedIntrinsics.map { JSONTree.number($0) })
        }),
      "imu": plan.isKilled ? nil : motionRows.json,
      "cameraSettings": .array(known.map(settingsRow)),
      "warnings": expectation.warnings.json,
      "mustFail": plan.isKilled && plan.hasVideo ? ["color"] : [],
      "mayFail": plan.isKilled ? ["aligned"] : [],
      "exitCode": plan.isKilled && plan.hasVideo ? 1 : 0,
    ]
  }

  var truth: JSONTree {
    TruthDocument(
      family: "arkit-scanner", generation: plan.generation.rawValue, id: id, options: options,
      faults: faults, rate: rate, frames: plan.frames, color: rig.color, depth: rig.depth,
      colorFromDepth: .identity
    ).json
  }

  private var encoding: String {
    plan.recordEdits.values.contains(.otherEncoding) ? "mixed" : plan.generation.encoding
  }

  private var motionRows: MotionRows {
    let g = InertialSensors.standardGravity
    var rows = MotionRows()
    for (nanoseconds, sample) in motion {
      var values: [(String, Vector3)] = []
      if plan.generation != .scannetpp { values.append(("magnetometer", .zero)) }
      values.append(("userAcceleration", sample.userAcceleration * g))
      values.append(("rotationRate", sample.rotationRate))
      values.append(("gravity", sample.gravity * g))
      if plan.generation != .scannetpp { values.append(("attitude", sample.attitude)) }
      rows.add(nanoseconds: nanoseconds, values)
    }
    return rows
  }

  private func settingsRow(_ facts: ScannerFrameFacts) -> JSONTree {
    let hasExif = plan.generation.hasExif && !plan.emptyExif.contains(facts.frame)
    return [
      JSONTree(facts.frame), hasExif ? .number(facts.exposureSeconds) : nil,
      hasExif ? JSONTree(facts.iso) : nil,
      plan.generation == .scannetpp ? nil : .number(Double("\(facts.offset)") ?? 0),
    ]
  }
}

/// What a reader must find in an ARKit-Scanner capture, computed from the plan by the rules of the
/// format.
struct ScannerExpectation {
  let plan: ScannerPlan
  /// Times of the canonical frames; `nil` = empty cell.
  private(set) var frameTimes: [Int64?] = []
  private(set) var colorTimes: [Int64?] = []
  private(set) var depthTimes: [Int64?] = []
  private(set) var warnings = WarningTally()

  /// - Parameter isWhole: for each depth record whether it can be decoded.
  init(plan: ScannerPlan, times: ScannerTimes, isWhole: [Bool]) {
    self.plan = plan
    for frame in 0..<plan.canonicalFrames {
      // The times of a killed recording come from its exif file, whose last entry is cut.
      let isTimed = frame < (plan.isKilled ? plan.frames - 1 : plan.keys)
      let time = isTimed ? times.recorded(frame) : nil
      frameTimes.append(time)
      colorTimes.append(frame < plan.readablePictures ? time : nil)
      depthTimes.append(frame < isWhole.count && isWhole[frame] ? time : nil)
    }
    countTimes()
    countDepth()
    countLengths()
    countSides()
  }

  private mutating func countTimes() {
    if plan.generation.hasTimes {
      warnings.add("frame-gap", TimeStepCount(frameTimes, gapFactor: 1.5).gaps)
      if plan.isKilled { warnings.add("timestamps-missing", frameTimes.count { $0 == nil }) }
    } else {
      warnings.add("timestamps-missing", plan.canonicalFrames)
    }
    if plan.poseJumpFrame != nil { warnings.add("pose-jump") }
    if plan.nanPoseFrame != nil { warnings.add("non-finite-value") }
  }

  private mutating func countDepth() {
    let edits = plan.recordEdits.filter { $0.key < plan.frames - (plan.endsInRecord ? 1 : 0) }
    warnings.add("empty-record", edits.count { $0.value == .empty })
    warnings.add(
      "corrupt-record",
      edits.count { [.noise, .short, .otherFraming].contains($0.value) })
    if edits.contains(where: { $0.value == .otherEncoding }) { warnings.add("mixed-encodings") }
    if plan.nonFiniteFrame != nil { warnings.add("non-finite-value") }
    let isRaw = plan.generation.depthLayout == .raw
    if plan.endsInRecord { warnings.add(isRaw ? "trailing-data" : "truncated-stream") }
    if plan.trailingBytes > 0 { warnings.add("trailing-data") }
  }

  private mutating func countLengths() {
    let depth = plan.depthFrames.count
    if !plan.isKilled { warnings.add("frame-count-mismatch", abs(depth - plan.frames)) }
    guard plan.hasVideo, !plan.isKilled else {
      if !plan.hasVideo { warnings.add("missing-file") }
      return
    }
    warnings.add("frame-count-mismatch", abs(plan.pictures - plan.frames))
    warnings.add("color-shorter-than-depth", depth - plan.pictures)
    warnings.add("depth-shorter-than-color", plan.pictures - depth)
  }

  private mutating func countSides() {
    if plan.isKilled {
      warnings.add("missing-file", 4)
      warnings.add("imu-missing")
      warnings.add("calibration-missing")
      warnings.add("truncated-stream")
      warnings.add("pairing-approximate", frameTimes.count { $0 != nil })
      return
    }
    if !plan.hasMotion { warnings.add("imu-missing") }
    if plan.declaredColorScale != 1, plan.hasVideo { warnings.add("size-mismatch") }
    if plan.hasStrangeDepthSize { warnings.add("size-mismatch") }
  }
}

/// What an ARKit-Scanner capture contains in addition to pictures and samples.
struct ScannerPlan {
  /// How a depth record is damaged.
  enum RecordEdit {
    /// The record is not written: later records move up.
    case absent
    case empty
    case noise
    /// Decodes to fewer pixels than a frame.
    case short
    /// Apple's other LZ4 framing.
    case otherFraming
    /// Float meters in a file of millimeters.
    case otherEncoding
  }

  let generation: ScannerGeneration
  /// Number of entries in the side files.
  let frames: Int

  var recordEdits: [Int: RecordEdit] = [:]
  /// The last record, or the last frame of the single stream, is cut.
  var endsInRecord = false
  var trailingBytes = 0
  /// The length of the first record makes the file begin like an empty DEFLATE stream.
  var looksLikeDeflate = false
  /// A frame of float depth with non-finite values.
  var nonFiniteFrame: Int?

  var surplusPictures = 0
  var hasVideo = true
  /// The app was killed: no side files, no video index, an exif file that is not closed.
  var isKilled = false

  /// Number of camera frames that are missing in all streams after a frame.
  var gap: (afterFrame: Int, frames: Int)?
  var poseJumpFrame: Int?
  var nanPoseFrame: Int?
  var hasMotion = true
  /// Frames whose exif entry is `{}`.
  var emptyExif: Set<Int> = []
  var declaredColorScale = 1
  var hasStrangeDepthSize = false

  var pictures: Int { hasVideo ? frames + surplusPictures : 0 }

  /// Frames whose depth record is written, including damaged ones.
  var depthFrames: [Int] {
    (0..<(frames - (endsInRecord ? 1 : 0))).filter { recordEdits[$0] != .absent }
  }

  /// Number of side file entries that a reader finds.
  var keys: Int { isKilled ? 0 : frames }

  /// Number of pictures that a reader can decode.
  var readablePictures: Int { isKilled ? 0 : pictures }

  var canonicalFrames: Int { max(keys, depthFrames.count, readablePictures) }
}

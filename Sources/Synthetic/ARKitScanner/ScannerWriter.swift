import Core
import Media
import SystemPackage

/// Synthesizes captures of the ARKit-Scanner app in all its generations, and the released ScanNet++
/// folder.
enum ARKitScannerFamily: SyntheticFamily {
  typealias Generation = ScannerGeneration
  typealias Plan = ScannerPlan
  typealias Times = ScannerTimes

  static let name = "arkit-scanner"
  static let generationsWithMotion = generations
  static let about = "1920x1440 color and 256x192 depth, 60 frames at 60 per second"

  static func plan(_ generation: Generation, frames: Int?) -> Plan {
    ScannerPlan(generation: generation, frames: frames ?? 60)
  }

  static func setup(_ plan: Plan, _ options: SynthesisOptions) throws -> Setup {
    guard (options.depthWidth ?? 256, options.depthHeight ?? 192) == (256, 192) else {
      throw SynthesisError("depth of this family is always 256x192")
    }
    let color = PinholeCamera(
      width: 1920, height: 1440, fx: 1457.02, fy: 1457.02, cx: 960.68, cy: 718.84)
    let moment = SeededNames.moment(seed: options.seed)
    let rate = options.rate ?? 60
    return (
      "lab 101 \(moment.date()) \(moment.time())", rate, Rig(options, color, depth: (256, 192)),
      ScannerTimes(plan: plan, rate: rate, seed: options.seed)
    )
  }

  static func write(_ work: Synthesis<Self>, _ truth: inout TruthWriter) throws -> Found {
    let (plan, times) = (work.plan, work.times)
    let digests = try work.writeFrames(&truth)
    let motion = work.motionSamples()
    try ScannerSideFiles(
      folder: work.folder.capture, plan: plan, times: times, color: work.rig.color,
      depthWidth: work.rig.depth.width, depthHeight: work.rig.depth.height, facts: work.facts,
      motion: motion.map { ($0.key, $0.sample) }
    ).write()
    let expectation = ScannerExpectation(
      plan: plan, times: times, isWhole: digests.map { $0 != nil })
    let read = motion.compactMap { sample in
      sample.nanoseconds.map { (nanoseconds: $0, sample: sample.sample) }
    }
    return (work.expected(expectation, digests, read), expectation.warnings)
  }
}

extension Synthesis<ARKitScannerFamily> {
  fileprivate func writeFrames(_ truth: inout TruthWriter) throws -> [Digest?] {
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
    var exact = depthRenderer
    var renderer = colorRenderer
    for frame in 0..<max(plan.frames, plan.pictures) {
      let state = rig.motion.state(at: times.worldSeconds(frame))
      let nanoseconds = times.recorded(frame) ?? 0
      let color = camera.camera(frame)
      renderer.camera = color
      exact.camera = color.scaled(toWidth: rig.depth.width, height: rig.depth.height)
      if frame < plan.frames {
        exact.render(state.viewpoint())
        let meters = lidar(exact.camera).measure(exact.meters, frame: frame)
        try depth.append(frame: frame, meters: meters)
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

  fileprivate func facts(_ frame: Int) -> ScannerFrameFacts {
    // Early generations store only the last frame's matrix.
    let shown = plan.generation.hasIntrinsicsPerFrame ? frame : plan.frames - 1
    return ScannerFrameFacts(
      frame: frame, plan: plan, times: times,
      state: rig.motion.state(at: times.worldSeconds(frame)), intrinsics: camera.camera(shown),
      exposureSeconds: options.exposureSeconds)
  }

  fileprivate func motionSamples() -> [(key: String, nanoseconds: Int64?, sample: InertialSample)] {
    var sensors = InertialSensors(
      motion: rig.motion, noise: options.noise, offsetSeconds: options.imuOffsetSeconds,
      seed: options.seed)
    return times.motionSamples.map {
      ($0.key, $0.nanoseconds, sensors.sample(at: times.worldSeconds(ofUptime: $0.uptime)))
    }
  }

  fileprivate func expected(
    _ expectation: ScannerExpectation, _ depthDigests: [Digest?],
    _ motion: [(nanoseconds: Int64, sample: InertialSample)]
  ) -> [String: JSONTree] {
    let motionRows = motionRows(motion)
    let known = plan.isKilled ? [] : (0..<plan.frames).map(facts)
    let isReleased = plan.generation == .scannetpp
    let poses = known.compactMap { isReleased ? ScannerRelease.poseRow($0) : $0.poseRow }
    return [
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
      "colorIndex": frameCodes(plan.readablePictures) { _ in true },
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
      "mustFail": plan.isKilled && plan.hasVideo ? ["color"] : [],
      "mayFail": plan.isKilled ? ["aligned"] : [],
      "exitCode": plan.isKilled && plan.hasVideo ? 1 : 0,
    ]
  }

  private var encoding: String {
    plan.recordEdits.values.contains(.otherEncoding) ? "mixed" : plan.generation.encoding
  }

  private func motionRows(
    _ motion: [(nanoseconds: Int64, sample: InertialSample)]
  ) -> MotionRows {
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
struct ScannerPlan: SyntheticPlan {
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

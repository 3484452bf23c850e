import Core
import Media

/// What a reader must find in a MultiScan capture, computed from the plan by the rules of the
/// format.
extension Synthesis<MultiScanFamily> {
  func expectation(motionStart: Int64?) -> Expectation {
    var expectation = Expectation()
    let depth =
      plan.hasDepthFile && plan.generation.hasDepth
      ? plan.lateDepth..<max(plan.lateDepth, plan.depthFrames) : 0..<0
    for frame in 0..<plan.canonicalFrames {
      expectation.add(
        recorded(frame, motionStart: motionStart), hasColor: frame < plan.readablePictures,
        hasDepth: depth.contains(frame))
    }
    expectation.warnings = plan.warnings(
      expectation.frames, depthPixels: rig.depth.width * rig.depth.height)
    return expectation
  }
}

extension MultiScanPlan {
  fileprivate func warnings(_ times: [Int64?], depthPixels: Int) -> WarningTally {
    var warnings = WarningTally(namesSubjects: false)
    countTimes(&warnings, times)
    countStreams(&warnings, depthPixels: depthPixels)
    countLengths(&warnings)
    countFiles(&warnings)
    countMotion(&warnings)
    return warnings
  }

  private func countTimes(_ warnings: inout WarningTally, _ times: [Int64?]) {
    warnings.addSteps(times)
    warnings.add("pose-jump", damage.poseJump != nil)
    if !generation.hasCameraInfo || generation == .androidARCore {
      warnings.add("pairing-approximate", readablePictures)
    } else if readablePictures < frames {
      // Even times of pictures do not tell whether the first or the last ones are missing; depth that
      // breaks off, too, does.
      let kept = TimeStepCount(Array(times.prefix(readablePictures)), gapFactor: 1.4)
      if kept.gaps == 0, TimeStepCount(times, gapFactor: 1.5).gaps > 0 || !endsInDepthFrame {
        warnings.add("pairing-approximate", readablePictures)
      }
    }
  }

  private func countStreams(_ warnings: inout WarningTally, depthPixels: Int) {
    // ARCore appends copies of the last line, depth and confidence until depth is as long as the video.
    warnings.add("trailing-data", lateDepth)
    if hasDepthFile {
      warnings.add("truncated-stream", endsInDepthFrame)
      warnings.add("trailing-data", depthTailBytes > 0)
      warnings.add("non-finite-value", nonFiniteFrame != nil)
    }
    warnings.add("truncated-stream", hasEmptyConfidence)
    warnings.add("multiple-streams", splitsConfidence)
    warnings.add("multiple-streams", generation == .iosDual)
    if generation == .iosStereo,
      depthPixels * 2 > Self.compressorBytes
    {
      warnings.add("corrupt-record", depthFrames)
    }
    if generation.hasCameraInfo {
      warnings.add("corrupt-record", (0..<frames).count { !hasLine($0) })
    }
  }

  private func countLengths(_ warnings: inout WarningTally) {
    // Without camera info only the metadata states the length of a stream. ARCore's counts are not
    // compared, and its video is complete.
    let isCompared = hasMetadata || generation.hasCameraInfo
    guard isCompared, generation != .androidARCore else { return }
    let color = hasVideo && hasVideoIndex ? pictures : nil
    let depth = generation.hasDepth && hasDepthFile ? depthFrames : nil
    let confidence =
      generation.hasConfidence && hasConfidenceFile
      ? (hasEmptyConfidence ? 0 : confidenceFrames) : nil
    warnings.addLengths(
      [("color", color), ("depth", depth), ("confidence", confidence)], expected: frames)
    warnings.addDifference(color: color, depth: depth)
  }

  private func countFiles(_ warnings: inout WarningTally) {
    let needsMetadata = !generation.hasCameraInfo
    if generation == .androidPlain || (!hasMetadata && needsMetadata) {
      warnings.add("calibration-missing")
    }
    let files = [hasMetadata, hasVideo, hasDepthFile, hasConfidenceFile]
    warnings.add("missing-file", files.count { !$0 })
  }

  private func countMotion(_ warnings: inout WarningTally) {
    guard generation.hasMotion else { return }
    let files = MultiScanMotion.files.count { !missingMotion.contains($0.fileExtension) }
    if !hasMotionHeaders { warnings.add("truncated-stream", files) }
    warnings.add("imu-partial-record", motionPartialBytes > 0)
    if motionClaimSurplus != 0, hasMotionHeaders {
      warnings.add("frame-count-mismatch", abs(motionClaimSurplus))
    }
    warnings.add("missing-file", missingMotion.count)
  }
}

extension Synthesis<MultiScanFamily> {
  func expected(
    _ expectation: Expectation, _ digests: MultiScanDigests, _ samples: MultiScanSamples
  ) -> JSONObject {
    let lines = (0..<plan.frames).filter(plan.hasLine).map { MultiScanCameraInfo(self, $0) }
    let fails = plan.hasVideo && !plan.hasVideoIndex
    let positions: [JSONRow] =
      hasPosition
      ? [
        [
          0, expectation.frames.first ?? nil, MultiScanFamily.latitude,
          MultiScanFamily.longitude, nil, nil, "measured",
        ]
      ] : []
    return found(
      expectation, hasDepth ? hashes(digests.depth, from: -plan.lateDepth) : [],
      hasConfidence ? hashes(digests.confidence, from: -plan.lateDepth) : [],
      colorFrames: plan.readablePictures, mustFail: fails ? ["color"] : [],
      mayFail: fails ? ["aligned"] : []
    ).merging([
      "captureId": id,
      "streams": [
        "color": color, "depth": depth(digests), "confidence": confidence(digests),
        "imu": plan.generation.hasMotion ? ["samples": samples.rows.counts] : nil,
        "poses": plan.generation.hasCameraInfo ? ["frames": lines.count] : nil,
      ] as JSONObject,
      "poses": lines.compactMap(\.poseRow), "intrinsics": intrinsics(lines),
      "imu": samples.rows.json, "cameraSettings": lines.map(\.settingsRow), "geo": positions,
    ])
  }

  private var hasDepth: Bool { plan.generation.hasDepth && plan.hasDepthFile }
  private var hasConfidence: Bool { plan.generation.hasConfidence && plan.hasConfidenceFile }

  private func intrinsics(_ lines: [MultiScanCameraInfo]) -> [JSONRow] {
    if plan.generation.hasCameraInfo {
      let isSized = plan.hasMetadata || plan.readablePictures > 0
      return lines.map { $0.intrinsics.row($0.frame, isSized ? rig.color.size : nil) }
    }
    guard plan.hasMetadata, plan.generation != .androidPlain else { return [] }
    return (0..<plan.canonicalFrames).map { colorCamera(0).row($0, rig.color.size) }
  }

  /// The number of items that the metadata states.
  private var declared: JSONObject {
    ["declaredFrames": plan.hasMetadata ? plan.frames : nil]
  }

  private var color: JSONObject? {
    guard plan.hasVideo else { return nil }
    let file = plan.generation == .iosDual ? "\(id)-primary.mp4" : "\(id).mp4"
    return rig.color.stream(file, "h264", frames: plan.readablePictures).merging(declared)
  }

  private func depth(_ digests: MultiScanDigests) -> JSONObject? {
    guard hasDepth else { return nil }
    let element = plan.generation == .androidARCore ? "u16" : "f16"
    return rig.depth.stream(
      "\(id).depth.zlib", "\(wrapper(plan.depthFormat))-stream-\(element)",
      frames: digests.depth.count
    ).merging(declared)
  }

  private func confidence(_ digests: MultiScanDigests) -> JSONObject? {
    guard hasConfidence else { return nil }
    return rig.depth.stream(
      "\(id).confidence.zlib", "\(wrapper(plan.confidenceFormat))-stream-u8",
      frames: digests.confidence.count)
  }

  private func wrapper(_ format: DeflateFormat) -> String {
    switch format {
    case .raw: "deflate"
    case .zlib: "zlib"
    case .gzip: "gzip"
    }
  }
}

/// The motion samples of a MultiScan capture: the content of the files, and a reader's rows.
struct MultiScanSamples {
  /// Samples by file extension, in time order.
  let stored: [String: [(nanoseconds: Int64, value: Vector3)]]
  /// The earliest time in the existing files.
  let start: Int64?
  let rows: MotionRows

  /// iOS writes all five sensors at the same times, Android each at its own.
  init(_ work: Synthesis<MultiScanFamily>) {
    let plan = work.plan
    guard plan.generation.hasMotion else {
      stored = [:]
      start = nil
      rows = MotionRows()
      return
    }
    let isAndroid = plan.generation.isAndroid
    let end = work.taken(plan.frames - 1) + 50_000_000
    var stored: [String: [(nanoseconds: Int64, value: Vector3)]] = [:]
    var read: [(nanoseconds: Int64, order: Int, name: String, value: Vector3)] = []
    for (number, file) in MultiScanMotion.files.enumerated() {
      // On iOS all files are written by one callback: same clock, same noise.
      let clock = SampleClock(
        startNanoseconds: work.clock.startNanoseconds + (isAndroid ? Int64(number) * 1_237_000 : 0),
        rate: isAndroid ? 100 : 60, jitterSeconds: 0.0004, seed: work.options.seed,
        isAndroid ? "motion \(file.fileExtension)" : "motion")
      var sensors = work.inertialSensors(
        clockwiseQuarterTurns: plan.generation.clockwiseQuarterTurns)
      var samples: [(nanoseconds: Int64, value: Vector3)] = []
      for time in clock.times(through: end) {
        let sample = sensors.sample(at: work.worldSeconds(time))
        let value = file.stored(sample, isAndroid)
        samples.append((time, value))
        if !plan.missingMotion.contains(file.fileExtension) {
          let (name, converted) = file.read(value, isAndroid)
          read.append((time, Self.order[name] ?? 0, name, converted))
        }
      }
      stored[file.fileExtension] = samples
    }
    read.sort { ($0.nanoseconds, $0.order) < ($1.nanoseconds, $1.order) }
    var rows = MotionRows()
    for row in read { rows.add(nanoseconds: row.nanoseconds, [(row.name, row.value)]) }
    self.stored = stored
    self.rows = rows
    start = read.first?.nanoseconds
  }

  /// Order of rows with the same time.
  private static let order = [
    "accelerometer": 0, "gyroscope": 1, "magnetometer": 2, "userAcceleration": 3,
    "rotationRate": 4, "gravity": 5, "attitude": 6,
  ]
}

/// One line of the camera info file, and the rows that a reader makes from it.
struct MultiScanCameraInfo {
  let frame: Int
  let timestamp: Int64
  private let transform: [Double]
  let intrinsics: PinholeCamera
  private let exposureNanoseconds: Int64
  private let isAndroid: Bool

  /// - Parameter line: those after the last frame repeat it.
  init(_ work: Synthesis<MultiScanFamily>, _ line: Int) {
    let plan = work.plan
    frame = line
    timestamp = work.lineTime(line)
    intrinsics = work.colorCamera(min(line, plan.frames - 1))
    let state = work.rig.motion.state(at: work.worldSeconds(ofFrame: min(line, plan.frames - 1)))
    isAndroid = plan.generation.isAndroid
    var transform = state.arkitTransform(shiftedBy: plan.damage.shift(frame)).map { Double($0) }
    // Seen in recordings: the last element deviates slightly, and the others with it.
    if !isAndroid { transform[15] = 0.9999999403953552 }
    self.transform = transform
    exposureNanoseconds = Int64((work.options.exposureSeconds * 1e9).rounded(.down))
  }

  var line: JSONObject {
    var members: JSONObject = [
      "timestamp": timestamp, "transform": transform,
      "intrinsics": DriftingCamera.columnMajor(intrinsics),
      "exposure_duration": exposureNanoseconds,
    ]
    if isAndroid {
      members["euler_angles"] = "null"
    } else {
      members["euler_angles"] = eulerAngles
      // Composed in another order than the matrix, as in the app.
      if let q = pose?.orientation { members["quaternion"] = [q.y, q.z, q.w, q.x] }
    }
    return members
  }

  private var pose: Pose? { Pose(arkitColumnMajor: transform) }

  /// Pitch, yaw, roll of `Ry·Rx·Rz`.
  private var eulerAngles: [Double] {
    [
      Trigonometry.arcSine(-transform[9]),
      Trigonometry.arcTangent(y: transform[8], x: transform[10]),
      Trigonometry.arcTangent(y: transform[1], x: transform[5]),
    ]
  }

  var poseRow: JSONRow? { pose?.row(frame, timestamp) }

  var settingsRow: JSONRow {
    [frame, exposureNanoseconds > 0 ? Double(exposureNanoseconds) / 1e9 : nil, nil, nil]
  }
}

import Core
import Media

extension MultiScanPlan {
  /// What a reader must report, by the rules of the format.
  func warnings(_ times: [Int64?], depthPixels: Int) -> WarningTally {
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
    let depth = writesDepth ? depthFrames : nil
    let confidence = writesConfidence ? (hasEmptyConfidence ? 0 : confidenceFrames) : nil
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
    let files = MultiScanSensor.all.count { !missingMotion.contains($0.ending) }
    if !hasMotionHeaders { warnings.add("truncated-stream", files) }
    warnings.add("imu-partial-record", motionPartialBytes > 0)
    if motionClaimSurplus != 0, hasMotionHeaders {
      warnings.add("frame-count-mismatch", abs(motionClaimSurplus))
    }
    warnings.add("missing-file", missingMotion.count)
  }
}

extension Synthesis<MultiScanFamily> {
  func found(
    _ expectation: Expectation, _ digests: PictureDigests, _ samples: MultiScanSamples
  ) -> MultiScanFamily.Found {
    let generation = plan.generation
    let lines = (0..<plan.frames).filter(plan.hasLine).map(infoFacts)
    let fails = plan.hasVideo && !plan.hasVideoIndex
    let position: JSONRow = [
      0, expectation.frames.first ?? nil, MultiScanFamily.latitude, MultiScanFamily.longitude, nil,
      nil, "measured",
    ]
    // The number of items that the metadata states.
    let declared: JSONObject = ["declaredFrames": plan.hasMetadata ? plan.frames : nil]
    let element = generation == .androidARCore ? "u16" : "f16"
    return found(
      expectation, digests, from: plan.lateDepth, pictures: plan.readablePictures,
      mustFail: fails ? ["color"] : [], mayFail: fails ? ["aligned"] : [],
      [
        "captureId": id,
        "streams": [
          "color": plan.hasVideo
            ? rig.color.stream(
              "\(id)\(plan.videoEndings[0])", "h264", frames: plan.readablePictures
            )
            .merging(declared) : nil,
          "depth": plan.writesDepth
            ? rig.depth.stream(
              "\(id).depth.zlib", "\(plan.depthFormat.word)-stream-\(element)",
              frames: digests.depth.count
            ).merging(declared) : nil,
          "confidence": plan.writesConfidence
            ? rig.depth.stream(
              "\(id).confidence.zlib", "\(plan.confidenceFormat.word)-stream-u8",
              frames: digests.confidence.count { $0 != nil }) : nil,
          "imu": generation.hasMotion ? ["samples": samples.rows.counts] : nil,
          "poses": generation.hasCameraInfo ? ["frames": lines.count] : nil,
        ] as JSONObject,
        "poses": lines.compactMap(\.poseRow), "intrinsics": intrinsics(lines),
        "imu": samples.rows.json,
        "cameraSettings": lines.map { own -> JSONRow in
          [own.frame, exposure > 0 ? Double(exposure) / 1e9 : nil, nil, nil]
        },
        "geo": hasPosition ? [position] : [],
      ])
  }

  private func intrinsics(_ lines: [FrameFacts]) -> [JSONRow] {
    if plan.generation.hasCameraInfo {
      let isSized = plan.hasMetadata || plan.readablePictures > 0
      return lines.map { $0.camera.row($0.frame, isSized ? rig.color.size : nil) }
    }
    guard plan.hasMetadata, plan.generation != .androidPlain else { return [] }
    return (0..<plan.canonicalFrames).map { colorCamera(0).row($0, rig.color.size) }
  }
}

extension DeflateFormat {
  /// The wrapper in the name of an encoding.
  fileprivate var word: String {
    switch self {
    case .raw: "deflate"
    case .zlib: "zlib"
    case .gzip: "gzip"
    }
  }
}

/// The motion samples of a MultiScan capture.
struct MultiScanSamples {
  /// The content of the files by ending, in time order.
  private(set) var stored: [String: [(time: Int64, value: Vector3)]] = [:]
  /// A reader's rows of the files that are there.
  private(set) var rows: [MotionRow] = []

  /// iOS writes all five sensors at the same times, Android each at its own.
  init(_ work: Synthesis<MultiScanFamily>) {
    let plan = work.plan
    guard plan.generation.hasMotion else { return }
    let isAndroid = plan.generation.isAndroid
    let end = work.taken(plan.frames - 1) + 50_000_000
    for (number, sensor) in MultiScanSensor.all.enumerated() {
      // On iOS all files are written by one callback: same clock, same noise.
      let clock = SampleClock(
        startNanoseconds: work.clock.startNanoseconds + (isAndroid ? Int64(number) * 1_237_000 : 0),
        rate: isAndroid ? 100 : 60, jitterSeconds: 0.0004, seed: work.options.seed,
        isAndroid ? "motion \(sensor.ending)" : "motion")
      let samples = work.motionSamples(
        clock.times(through: end), clockwiseQuarterTurns: plan.generation.clockwiseQuarterTurns
      ).map { ($0, sensor.stored($1, isAndroid)) }
      stored[sensor.ending] = samples
      guard !plan.missingMotion.contains(sensor.ending) else { continue }
      rows += samples.map { time, value in
        let (kind, read) = sensor.read(value, isAndroid)
        return MotionRow(time: time, sensor: kind, value: read)
      }
    }
    rows = rows.sorted()
  }
}

/// The lines of the camera info file.
extension Synthesis<MultiScanFamily> {
  /// Nanoseconds.
  private var exposure: Int64 { Int64((options.exposureSeconds * 1e9).rounded(.down)) }

  /// What a line states; those after the last frame repeat it.
  func infoFacts(_ line: Int) -> FrameFacts {
    var own = facts(min(line, plan.frames - 1))
    (own.frame, own.time) = (line, lineTime(line))
    // Seen in recordings: the last element deviates slightly, and the others with it.
    if !plan.generation.isAndroid { own.transform[15] = 0.9999999403953552 }
    return own
  }

  func line(_ own: FrameFacts) -> JSONObject {
    let m = own.transform
    var members: JSONObject = [
      "timestamp": own.time, "transform": m,
      "intrinsics": own.camera.columnMajor, "exposure_duration": exposure,
    ]
    if plan.generation.isAndroid {
      members["euler_angles"] = "null"
    } else {
      // Pitch, yaw, roll of `Ry·Rx·Rz`.
      members["euler_angles"] = [
        Trigonometry.arcSine(-m[9]), Trigonometry.arcTangent(y: m[8], x: m[10]),
        Trigonometry.arcTangent(y: m[1], x: m[5]),
      ]
      // Composed in another order than the matrix, as in the app.
      if let q = own.pose?.orientation { members["quaternion"] = [q.y, q.z, q.w, q.x] }
    }
    return members
  }
}

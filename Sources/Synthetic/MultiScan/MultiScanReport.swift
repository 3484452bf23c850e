import Core
import Media

extension Synthesis<MultiScanFamily> {
  func expected(
    _ expectation: MultiScanExpectation, _ digests: MultiScanDigests, _ samples: MultiScanSamples,
    hasPosition: Bool
  ) -> [String: JSONTree] {
    let lines = (0..<plan.frames).filter(plan.hasLine).map(info)
    let fails = plan.hasVideo && !plan.hasVideoIndex
    return [
      "captureId": .text(id), "frames": JSONTree(plan.canonicalFrames),
      "streams": [
        "color": color, "depth": depth(digests), "confidence": confidence(digests),
        "imu": plan.generation.hasMotion ? ["samples": samples.rows.counts] : nil,
        "poses": plan.generation.hasCameraInfo ? ["frames": JSONTree(lines.count)] : nil,
      ],
      "depthSha256": hasDepth ? hashes(digests.depth) : [],
      "confidenceSha256": hasConfidence ? hashes(digests.confidence) : [],
      "colorFrames": JSONTree(plan.readablePictures),
      "colorCode": .text(FrameCode.howToRead),
      "colorIndex": frameCodes(plan.readablePictures) { _ in true },
      "timestampsNs": [
        "frame": JSONTree(expectation.frameTimes), "color": JSONTree(expectation.colorTimes),
        "depth": JSONTree(expectation.depthTimes),
      ],
      "poses": .array(lines.compactMap(\.poseRow)),
      "intrinsics": .array(intrinsics(lines)),
      "imu": samples.rows.json,
      "cameraSettings": .array(lines.map(\.settingsRow)),
      "geo": hasPosition
        ? [
          [
            0, JSONTree(expectation.frameTimes.first ?? nil),
            .number(MultiScanMetadata.latitude), .number(MultiScanMetadata.longitude), nil, nil,
            "measured",
          ]
        ] : [],
      "mustFail": fails ? ["color"] : [], "mayFail": fails ? ["aligned"] : [],
      "exitCode": fails ? 1 : 0,
    ]
  }

  private var hasDepth: Bool { plan.generation.hasDepth && plan.hasDepthFile }
  private var hasConfidence: Bool { plan.generation.hasConfidence && plan.hasConfidenceFile }

  /// Size of the upright pictures.
  private var size: (Int, Int) { (rig.color.width, rig.color.height) }

  private func hashes(_ digests: [Digest]) -> JSONTree {
    JSONTree(
      (0..<plan.canonicalFrames).map { frame in
        let record = frame - plan.lateDepth
        return digests.indices.contains(record) ? digests[record].hex : nil
      })
  }

  private func intrinsics(_ lines: [MultiScanCameraInfo]) -> [JSONTree] {
    let isSized = plan.hasMetadata || plan.readablePictures > 0
    if plan.generation.hasCameraInfo {
      return lines.map { $0.intrinsicsRow(size: isSized ? size : nil) }
    }
    guard plan.hasMetadata, plan.generation != .androidPlain else { return [] }
    let camera = colorCamera(0)
    return (0..<plan.canonicalFrames).map {
      [
        JSONTree($0), JSONTree(size.0), JSONTree(size.1), .number(camera.fx), .number(camera.fy),
        .number(camera.cx), .number(camera.cy),
      ]
    }
  }

  private var color: JSONTree {
    guard plan.hasVideo else { return nil }
    return [
      "file": .text(plan.generation == .iosDual ? "\(id)-primary.mp4" : "\(id).mp4"),
      "encoding": "h264", "width": JSONTree(size.0), "height": JSONTree(size.1),
      "frames": JSONTree(plan.readablePictures),
      "declaredFrames": plan.hasMetadata ? JSONTree(plan.frames) : nil,
    ]
  }

  private func depth(_ digests: MultiScanDigests) -> JSONTree {
    guard hasDepth else { return nil }
    let element = plan.generation == .androidARCore ? "u16" : "f16"
    return [
      "file": .text("\(id).depth.zlib"),
      "encoding": .text("\(wrapper(plan.depthFormat))-stream-\(element)"),
      "width": JSONTree(rig.depth.width), "height": JSONTree(rig.depth.height),
      "frames": JSONTree(digests.depth.count),
      "declaredFrames": plan.hasMetadata ? JSONTree(plan.frames) : nil,
    ]
  }

  private func confidence(_ digests: MultiScanDigests) -> JSONTree {
    guard hasConfidence else { return nil }
    return [
      "file": .text("\(id).confidence.zlib"),
      "encoding": .text("\(wrapper(plan.confidenceFormat))-stream-u8"),
      "width": JSONTree(rig.depth.width), "height": JSONTree(rig.depth.height),
      "frames": JSONTree(digests.confidence.count),
    ]
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
  init(plan: MultiScanPlan, times: MultiScanTimes, rig: Rig, options: SynthesisOptions) {
    guard plan.generation.hasMotion else {
      stored = [:]
      start = nil
      rows = MotionRows()
      return
    }
    let isAndroid = plan.generation.isAndroid
    let end = times.frame(plan.frames - 1) + 50_000_000
    var stored: [String: [(nanoseconds: Int64, value: Vector3)]] = [:]
    var read: [(nanoseconds: Int64, order: Int, name: String, value: Vector3)] = []
    for (number, file) in MultiScanMotion.files.enumerated() {
      // On iOS all files are written by one callback: same clock, same noise.
      let clock = SampleClock(
        startNanoseconds: times.base + (isAndroid ? Int64(number) * 1_237_000 : 0),
        rate: isAndroid ? 100 : 60, jitterSeconds: 0.0004, seed: options.seed,
        isAndroid ? "motion \(file.fileExtension)" : "motion")
      var sensors = InertialSensors(
        motion: rig.motion, clockwiseQuarterTurns: plan.generation.clockwiseQuarterTurns,
        noise: options.noise, offsetSeconds: options.imuOffsetSeconds, seed: options.seed)
      var index = 0
      var samples: [(nanoseconds: Int64, value: Vector3)] = []
      while clock.nanoseconds(of: index) <= end {
        let time = clock.nanoseconds(of: index)
        let sample = sensors.sample(at: times.worldSeconds(time))
        let value = file.stored(sample, isAndroid)
        samples.append((time, value))
        if !plan.missingMotion.contains(file.fileExtension) {
          let (name, converted) = file.read(value, isAndroid)
          read.append((time, Self.order[name] ?? 0, name, converted))
        }
        index += 1
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
  private let intrinsics: PinholeCamera
  private let exposureNanoseconds: Int64
  private let isAndroid: Bool

  init(
    frame: Int, timestamp: Int64, state: MotionState, intrinsics: PinholeCamera,
    exposureSeconds: Double, plan: MultiScanPlan
  ) {
    self.frame = frame
    self.timestamp = timestamp
    self.intrinsics = intrinsics
    isAndroid = plan.generation.isAndroid
    let isMoved = plan.poseJumpFrame.map { frame >= $0 } ?? false
    var transform = state.arkitTransform(shiftedBy: isMoved ? Vector3(1.5, 0, -1) : .zero)
      .map { Double($0) }
    // Seen in recordings: the last element deviates slightly, and the others with it.
    if !isAndroid { transform[15] = 0.9999999403953552 }
    self.transform = transform
    exposureNanoseconds = Int64((exposureSeconds * 1e9).rounded(.down))
  }

  var line: JSONTree {
    var members: [String: JSONTree] = [
      "timestamp": .integer(timestamp), "transform": JSONTree(transform),
      "intrinsics": JSONTree(DriftingCamera.columnMajor(intrinsics)),
      "exposure_duration": .integer(exposureNanoseconds),
    ]
    if isAndroid {
      members["euler_angles"] = "null"
    } else {
      members["euler_angles"] = JSONTree(eulerAngles)
      // Composed in another order than the matrix, as in the app.
      if let q = pose?.orientation { members["quaternion"] = JSONTree([q.y, q.z, q.w, q.x]) }
    }
    return .object(members)
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

  var poseRow: JSONTree? {
    guard let pose else { return nil }
    return pose.row(frame, timestamp)
  }

  /// - Parameter size: size of the decoded pictures, else that in the metadata, else `nil`.
  func intrinsicsRow(size: (Int, Int)?) -> JSONTree {
    [
      JSONTree(frame), JSONTree(size?.0), JSONTree(size?.1), .number(intrinsics.fx),
      .number(intrinsics.fy), .number(intrinsics.cx), .number(intrinsics.cy),
    ]
  }

  var settingsRow: JSONTree {
    let isKnown = exposureNanoseconds > 0
    return [
      JSONTree(frame), isKnown ? .number(Double(exposureNanoseconds) / 1e9) : nil, nil, nil,
    ]
  }
}

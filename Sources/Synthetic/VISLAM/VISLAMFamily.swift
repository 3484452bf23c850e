import Core
import Media
import SystemPackage

/// Synthesizes VI-SLAM sessions: a video and the phone's motion sensors, without depth.
enum VISLAMFamily: String, SyntheticFamily {
  typealias Plan = SessionPlan
  typealias Clock = SampleClock

  /// The iOS app: one row per sample and sensor.
  case v1
  /// The Android recorder: other spellings, bias columns, exposure in nanoseconds, Unix time.
  case android
  /// Wide rows of accelerometer and gyroscope, pictures as PNG files.
  case androidWide = "android-wide"

  var isAndroid: Bool { self != .v1 }

  /// The generation's name in a reader's result.
  var generation: String { isAndroid ? "android" : "v1" }

  static let name = "vi-slam"
  static let leastFrames = 8
  static let about = "1280x720 color, 90 frames at 30 per second, sensors at 100 Hz"

  func plan(frames: Int?) -> Plan { Plan(form: self, frames: frames ?? 90) }

  static func setup(_ plan: Plan, _ options: SynthesisOptions) -> Setup {
    let color = PinholeCamera(
      width: 1280, height: 720, fx: 982.4, fy: 982.4, cx: 641.2, cy: 358.7
    ).scaled(toWidth: options.width ?? 1280, height: options.height ?? 720)
    let moment = SeededNames.moment(seed: options.seed)
    let rate = options.rate ?? 30
    var random = SeededRandom(seed: options.seed, "uptime")
    let base =
      plan.form == .android
      ? 1_780_000_000_123_456_789 + Int64(random.uniform(0...1e6) * 1e9)
      : Int64(random.uniform(20_000...300_000) * 1e9)
    return (
      plan.form.isAndroid
        ? "recording_\(moment.date(""))_\(moment.time(""))_\(SeededNames.hex(seed: options.seed, "session", count: 8))"
        : "session_\(moment.date())T\(moment.time())Z",
      rate,
      // There is no depth camera; the truth has depth at a quarter of the picture's size.
      Rig(
        options, color: color,
        depth: color.scaled(toWidth: color.width / 4, height: color.height / 4)),
      // Camera periods as measured on phones: 33.323 ms for nominal 30 per second.
      SampleClock(
        startNanoseconds: base, rate: rate * 1.00031, jitterSeconds: 0.000_003, seed: options.seed,
        "frames")
    )
  }

  static func write(_ work: Synthesis<Self>, _ truth: inout TruthWriter) throws -> Found {
    let plan = work.plan
    try work.writePictures(&truth)
    if plan.hasFrameTable {
      try work.writeFrames(to: work.file("frame_metadata.csv"))
    }
    let samples = SessionSamples(work)
    if plan.hasInertialTable {
      try work.writeInertial(samples, to: work.file("imu_data.csv"))
    }
    let expectation = SessionExpectation(work, samples)
    return (work.expected(expectation, samples.present), expectation.warnings)
  }
}

extension Synthesis<VISLAMFamily> {
  fileprivate func writePictures(_ truth: inout TruthWriter) throws {
    let form = VideoSink.Form(
      container: .mp4, bFrames: 2, range: .full)
    let isVideo = plan.form != .androidWide
    let video = try self.video("video.mp4", form, isThere: plan.hasVideo && isVideo)
    let second = try self.video("preview.mp4", form, isThere: plan.hasSecondVideo)
    if !isVideo { try FileSystem.makeFolder(file("frames")) }
    var png = PNGWriter(compression: .compact)
    try render(
      plan.frames, &truth, video: video,
      at: { (worldSeconds(taken($0)), taken($0)) }, camera: { _ in rig.color },
      hasPicture: plan.hasPicture
    ) { frame, _, picture in
      guard let picture else { return }
      if isVideo {
        try video?.append(picture, ticks: ticks(frame))
        if frame < 3 { try second?.append(picture, ticks: ticks(frame)) }
      } else {
        try write(png.encode(picture), Self.pictureName(frame))
      }
    }
    try video?.finish()
    try second?.finish()
  }

  fileprivate func expected(
    _ expectation: SessionExpectation, _ present: [Int]
  ) -> JSONObject {
    let hasExposures = plan.hasFrameTable && plan.form != .androidWide
    let exposures = expectation.frameTimes.indices.map {
      hasExposures ? exposure($0) : (seconds: 0, iso: 0)
    }
    let samples = samples(expectation, present)
    let frames = expectation.frameTimes.count
    let codes = (0..<plan.frames).filter { plan.hasFrameTable || !plan.lostPictures.contains($0) }
    return [
      "generation": plan.form.generation, "frames": frames,
      "streams": [
        "frames": frames,
        "color": plan.hasVideo
          ? [
            "frames": plan.pictures, "width": rig.color.width, "height": rig.color.height,
            "encoding": plan.form == .androidWide ? "png" : "h264",
          ] as JSONObject : nil,
        "imu": ["samples": samples],
      ] as JSONObject,
      "depthSha256": [Int](), "confidenceSha256": [Int](), "colorFrames": plan.pictures,
      "colorFrameCode": options.showsFrameCode
        ? codes.map { plan.hasPicture($0) ? $0 : nil } : nil,
      "howToReadFrameCode": FrameCode.howToRead,
      "timestampsNs": [
        "frames": expectation.frameTimes, "color": expectation.colorTimes,
      ],
      "exposureS": exposures.map { $0.seconds > 0 ? $0.seconds : nil },
      "iso": exposures.map { $0.iso > 0 ? Double($0.iso) : nil },
      "poses": [Int](), "intrinsics": nil, "imu": imu(expectation, present, samples),
      "mustFail": plan.lacksZ && plan.hasInertialTable ? ["imu"] : [],
    ]
  }

  private func samples(_ expectation: SessionExpectation, _ present: [Int]) -> [String: Int] {
    guard !expectation.rows.isEmpty else { return [:] }
    var counts: [String: Int] = [:]
    for type in present {
      counts[SessionSamples.types[type]] = expectation.times(of: type).count
    }
    if plan.unknownRows > 0 { counts["barometer"] = plan.unknownRows }
    return counts
  }

  private func imu(
    _ expectation: SessionExpectation, _ present: [Int], _ samples: [String: Int]
  ) -> JSONObject {
    var perFrame: [String: [Int?]] = [:]
    if plan.hasFrameTable, !expectation.rows.isEmpty {
      for type in present {
        let times = expectation.times(of: type)
        perFrame[SessionSamples.types[type]] = expectation.frameTimes.map { time in
          time.map { time in
            times.partitioningIndex { $0 >= time + 50_000_001 }
              - times.partitioningIndex { $0 >= time - 50_000_000 }
          }
        }
      }
    }
    return [
      "samples": samples, "first": row(expectation.rows.first), "last": row(expectation.rows.last),
      "windowNs": 50_000_000, "samplesPerFrame": perFrame,
    ]
  }

  private func row(_ sample: SessionSample?) -> JSONRow? {
    guard let sample else { return nil }
    return [
      sample.nanoseconds, SessionSamples.types[sample.type],
      sample.value.x, sample.value.y, sample.value.z,
    ]
  }
}

extension VISLAMFamily {
  static let plannedFaults: [Fault] = pictures + files + samples + text

  private static let pictures = [
    Fault(
      "dropped-pictures", "pictures", leastFrames: 24,
      "rows 7, 8 and 20 have no picture; numbers start at 1", in: { $0 != .androidWide }
    ) {
      $0.lostPictures = [7, 8, 20]
      $0.firstNumber = 1
    },
    Fault("gap", "frame times", "the camera misses half a period in the middle") {
      $0.gapAfterFrame = $0.frames / 2
    },
    Fault(
      "swapped-frames", "frame rows", "two rows of the frame table are exchanged", \.swapsFrameRows,
      true),
    Fault(
      "wrong-size", "frame sizes", "two rows state another picture size", \.wrongSizeRows, 2,
      in: { $0 != .androidWide }),
  ]

  private static let files = [
    Fault("missing-video", "pictures", "no video", \.hasVideo, false, in: { $0 != .androidWide }),
    Fault(
      "two-videos", "video files", "a second video lies beside", \.hasSecondVideo, true,
      in: { $0 == .v1 }),
    Fault("missing-imu", "imu file", "no imu_data.csv", \.hasInertialTable, false),
    Fault(
      "missing-frames", "frame rows", "no frame_metadata.csv", \.hasFrameTable, false,
      in: { $0 != .androidWide }),
  ]

  private static let samples = [
    Fault(
      "imu-short", "imu range", leastFrames: 30, "the sensors start late and end early"
    ) {
      $0.inertialLead = -0.11
      $0.inertialTail = -0.27
    },
    Fault(
      "imu-gap", "imu times", leastFrames: 15, "0.2 seconds without samples", \.inertialGapSeconds,
      0.2),
    Fault(
      "swapped-samples", "imu order", "two neighboring gyroscope rows are exchanged",
      \.swapsGyroscope, true, in: { $0 != .androidWide }),
    Fault(
      "repeated-sample", "imu rows", "a gyroscope row stands twice", \.repeatsGyroscope, true,
      in: { $0 != .androidWide }),
    Fault(
      "nan-sample", "imu rows", "a row holds nan", \.hasNaNRow, true, in: { $0 != .androidWide }),
    Fault(
      "short-row", "imu rows", "a row has too few cells", \.hasShortRow, true,
      in: { $0 != .androidWide }),
    Fault(
      "unknown-sensor", "imu types", "four rows of a barometer", \.unknownRows, 4,
      in: { $0 != .androidWide }),
  ]

  private static let text = [
    Fault(
      "no-z", "imu file", "imu_data.csv lacks the column z: it cannot be read", \.lacksZ, true,
      in: { $0 == .v1 }),
    Fault(
      "foreign-text", "imu text", "byte order mark, CR LF; no warning", \.hasForeignText, true,
      in: { $0 == .v1 }),
    Fault(
      "cut-line", "imu end", "the last line of imu_data.csv is cut", \.cutsLastLine, true,
      in: { $0 == .v1 }),
  ]
}

/// What a reader must find in a VI-SLAM session, computed from the plan by the rules of the format.
struct SessionExpectation {
  let plan: SessionPlan
  private(set) var frameTimes: [Int64?]
  private(set) var colorTimes: [Int64?]
  /// Accepted rows, sorted.
  let rows: [SessionSample]
  private(set) var warnings = WarningTally()

  init(_ work: Synthesis<VISLAMFamily>, _ samples: SessionSamples) {
    let plan = work.plan
    self.plan = plan
    var rows = plan.hasInertialTable && !plan.lacksZ ? samples.rows : []
    if plan.cutsLastLine, !rows.isEmpty { rows.removeLast() }
    self.rows = rows
    if plan.hasFrameTable {
      frameTimes = (0..<plan.frames).map { work.taken($0) }
      colorTimes = (0..<plan.frames).map {
        plan.hasPicture($0) ? work.taken($0) : nil
      }
    } else {
      // Only the video's own clock.
      let kept = (0..<plan.frames).filter { !plan.lostPictures.contains($0) }
      frameTimes = kept.map {
        let nanoseconds = Double(work.ticks($0)) * 1e9 / 600
        return Int64(nanoseconds.rounded(.toNearestOrAwayFromZero))
      }
      colorTimes = frameTimes
    }
    countFrames()
    countFiles()
    countSamples(present: samples.present)
  }

  private mutating func countFrames() {
    guard plan.hasFrameTable else {
      warnings.add("missing-file")
      warnings.add("timestamps-missing", plan.pictures)
      return
    }
    warnings.add("frame-gap", TimeStepCount(frameTimes, gapFactor: 1.4).gaps)
    warnings.add("timestamps-unordered", plan.swapsFrameRows)
    if plan.hasVideo {
      warnings.add("frame-count-mismatch", plan.lostPictures.count)
      // Rows that are evenly spaced do not prove which of them have pictures.
      if !plan.lostPictures.isEmpty, plan.gapAfterFrame == nil {
        warnings.add("pairing-approximate", plan.pictures)
      }
      warnings.add("size-mismatch", plan.wrongSizeRows)
    }
  }

  private mutating func countFiles() {
    warnings.add("missing-file", !plan.hasVideo)
    warnings.add("multiple-streams", plan.hasSecondVideo)
    warnings.add("imu-missing", !plan.hasInertialTable)
  }

  private mutating func countSamples(present: [Int]) {
    guard plan.hasInertialTable, !plan.lacksZ else { return }
    warnings.add("timestamps-unordered", plan.swapsGyroscope)
    warnings.add("timestamps-duplicate", plan.repeatsGyroscope)
    warnings.add("non-finite-value", plan.hasNaNRow)
    warnings.add("corrupt-record", plan.hasShortRow)
    warnings.add("truncated-stream", plan.cutsLastLine)
    warnings.add("unknown-key", plan.unknownRows)
    var outside: Set<Int> = []
    for type in present {
      let times = self.times(of: type)
      let steps = zip(times.dropFirst(), times).map { $0 - $1 }.sorted()
      guard let first = times.first, let last = times.last, !steps.isEmpty else { continue }
      let threshold = max(3 * steps[steps.count / 2], 50_000_000)
      warnings.add("imu-gap", steps.count { $0 > threshold })
      // Magnetometer and gravity are not counted.
      guard [0, 1, 3, 4].contains(type), plan.hasFrameTable else { continue }
      for (frame, time) in frameTimes.enumerated() {
        if let time, time < first || time > last { outside.insert(frame) }
      }
    }
    warnings.add("imu-outside-frames", outside.count)
  }

  /// Sorted times of one sensor.
  func times(of type: Int) -> [Int64] {
    rows.filter { $0.type == type }.map(\.nanoseconds)
  }
}

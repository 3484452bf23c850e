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

  var sensors: [MotionSensor] {
    switch self {
    case .v1: [.accelerometer, .gyroscope, .userAcceleration, .rotationRate, .gravity]
    case .android: [.accelerometer, .gyroscope, .magnetometer]
    case .androidWide: [.accelerometer, .gyroscope]
    }
  }

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

  static func times(of frame: Int, in work: Synthesis<Self>) -> FrameTimes {
    (work.worldSeconds(work.taken(frame)), work.taken(frame))
  }

  static func write(_ work: Synthesis<Self>, _ truth: inout TruthWriter) throws -> Found {
    let plan = work.plan
    try work.writePictures(&truth)
    if plan.hasFrameTable {
      try work.writeFrames(to: work.file("frame_metadata.csv"))
    }
    let stored = work.motionRows
    if plan.hasInertialTable { try work.writeInertial(stored, to: work.file("imu_data.csv")) }
    let rows = plan.readable(stored)
    var expectation = work.expectation
    expectation.warnings = plan.warnings(expectation.frames, rows)
    return (work.expected(expectation, rows), expectation.warnings)
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
      &truth, video: video, camera: { _ in rig.color }, hasPicture: plan.hasPicture
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

  /// The times that a reader must find.
  fileprivate var expectation: Expectation {
    var expectation = Expectation()
    for frame in 0..<plan.frames {
      if plan.hasFrameTable {
        expectation.add(taken(frame), hasColor: plan.hasPicture(frame), hasDepth: false)
      } else if !plan.lostPictures.contains(frame) {
        // Only the video's own clock.
        let nanoseconds = Double(ticks(frame)) * 1e9 / 600
        let time = Int64(nanoseconds.rounded(.toNearestOrAwayFromZero))
        expectation.add(time, hasColor: true, hasDepth: false)
      }
    }
    return expectation
  }

  fileprivate func expected(
    _ expectation: Expectation, _ rows: [MotionRow]
  ) -> JSONObject {
    let frames = expectation.frames
    let hasExposures = plan.hasFrameTable && plan.form != .androidWide
    let exposures = frames.indices.map { hasExposures ? exposure($0) : (seconds: 0, iso: 0) }
    var samples = rows.counts
    if plan.unknownRows > 0, !rows.isEmpty { samples["barometer"] = plan.unknownRows }
    let codes = (0..<plan.frames).filter { plan.hasFrameTable || !plan.lostPictures.contains($0) }
    return [
      "generation": plan.form.generation, "frames": frames.count,
      "streams": [
        "frames": frames.count,
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
      "timestampsNs": ["frames": frames, "color": expectation.color],
      "exposureS": exposures.map { $0.seconds > 0 ? $0.seconds : nil },
      "iso": exposures.map { $0.iso > 0 ? Double($0.iso) : nil },
      "poses": [Int](), "intrinsics": nil, "imu": imu(frames, rows, samples),
      "mustFail": plan.lacksZ && plan.hasInertialTable ? ["imu"] : [],
    ]
  }

  private func imu(
    _ frames: [Int64?], _ rows: [MotionRow], _ samples: [String: Int]
  ) -> JSONObject {
    var perFrame: [String: [Int?]] = [:]
    for sensor in plan.form.sensors where plan.hasFrameTable && !rows.isEmpty {
      let times = rows.times(of: sensor)
      perFrame["\(sensor)"] = frames.map { $0.map { times.countNear($0) } }
    }
    return [
      "samples": samples, "first": rows.first?.json, "last": rows.last?.json,
      "windowNs": 50_000_000, "samplesPerFrame": perFrame,
    ]
  }
}

extension VISLAMFamily {
  static let plannedFaults: [Fault] = pictures + files + samples + rows + text

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
  ]

  private static let rows = [
    Fault(
      "swapped-samples", "imu order", "two neighboring gyroscope rows are exchanged",
      \.swapsGyroscope, true),
    Fault(
      "repeated-sample", "imu rows", "a gyroscope row stands twice", \.repeatsGyroscope, true),
    Fault(
      "nan-sample", "imu rows", "a row holds nan", \.hasNaNRow, true),
    Fault(
      "short-row", "imu rows", "a row has too few cells", \.hasShortRow, true),
    Fault(
      "unknown-sensor", "imu types", "four rows of a barometer", \.unknownRows, 4),
  ].only(in: { $0 != .androidWide })

  private static let text = [
    Fault(
      "no-z", "imu file", "imu_data.csv lacks the column z: it cannot be read", \.lacksZ, true),
    Fault(
      "foreign-text", "imu text", "byte order mark, CR LF; no warning", \.hasForeignText, true),
    Fault(
      "cut-line", "imu end", "the last line of imu_data.csv is cut", \.cutsLastLine, true),
  ].only(in: { $0 == .v1 })
}

/// What a reader must report, by the rules of the format.
extension SessionPlan {
  /// The rows that a reader accepts, sorted.
  fileprivate func readable(_ rows: [MotionRow]) -> [MotionRow] {
    hasInertialTable && !lacksZ ? Array(rows.dropLast(cutsLastLine ? 1 : 0)) : []
  }

  fileprivate func warnings(_ frames: [Int64?], _ rows: [MotionRow]) -> WarningTally {
    var warnings = WarningTally()
    countFrames(&warnings, frames)
    warnings.add("missing-file", !hasVideo)
    warnings.add("multiple-streams", hasSecondVideo)
    warnings.add("imu-missing", !hasInertialTable)
    if hasInertialTable, !lacksZ { countSamples(&warnings, frames, rows) }
    return warnings
  }

  private func countFrames(_ warnings: inout WarningTally, _ frames: [Int64?]) {
    guard hasFrameTable else {
      warnings.add("missing-file")
      warnings.add("timestamps-missing", pictures)
      return
    }
    warnings.add("frame-gap", TimeStepCount(frames, gapFactor: 1.4).gaps)
    warnings.add("timestamps-unordered", swapsFrameRows)
    guard hasVideo else { return }
    warnings.add("frame-count-mismatch", lostPictures.count)
    // Rows that are evenly spaced do not prove which of them have pictures.
    if !lostPictures.isEmpty, gapAfterFrame == nil { warnings.add("pairing-approximate", pictures) }
    warnings.add("size-mismatch", wrongSizeRows)
  }

  private func countSamples(
    _ warnings: inout WarningTally, _ frames: [Int64?], _ rows: [MotionRow]
  ) {
    warnings.add("timestamps-unordered", swapsGyroscope)
    warnings.add("timestamps-duplicate", repeatsGyroscope)
    warnings.add("non-finite-value", hasNaNRow)
    warnings.add("corrupt-record", hasShortRow)
    warnings.add("truncated-stream", cutsLastLine)
    warnings.add("unknown-key", unknownRows)
    var outside: Set<Int> = []
    for sensor in form.sensors {
      let times = rows.times(of: sensor)
      let steps = zip(times.dropFirst(), times).map { $0 - $1 }.sorted()
      guard let first = times.first, let last = times.last, !steps.isEmpty else { continue }
      let threshold = max(3 * steps[steps.count / 2], 50_000_000)
      warnings.add("imu-gap", steps.count { $0 > threshold })
      // Magnetometer and gravity are not counted.
      guard sensor != .magnetometer, sensor != .gravity, hasFrameTable else { continue }
      for (frame, time) in frames.enumerated() {
        if let time, time < first || time > last { outside.insert(frame) }
      }
    }
    warnings.add("imu-outside-frames", outside.count)
  }
}

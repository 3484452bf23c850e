import Core
import Media
import SystemPackage

/// Synthesizes VI-SLAM sessions: a video and the phone's motion sensors, without depth.
enum VISLAMFamily: SyntheticFamily {
  static let name = "vi-slam"
  static let generations = SessionForm.allCases.map(\.rawValue)
  static let generationsWithMotion = generations
  static let faults = SessionFaults.all.map(\.description)
  static let about = "1280x720 color, 90 frames at 30 per second, sensors at 100 Hz"

  static func write(_ options: SynthesisOptions) throws -> SyntheticCapture {
    let form = options.generation.flatMap(SessionForm.init(rawValue:)) ?? .v1
    var plan = SessionPlan(form: form, frames: options.frames ?? 90)
    let faults = try SessionFault.apply(
      options.faults, of: SessionFaults.all, to: &plan, form: (form, form.rawValue),
      frames: plan.frames, leastFrames: 8, family: name)
    let color = PinholeCamera(
      width: 1280, height: 720, fx: 982.4, fy: 982.4, cx: 641.2, cy: 358.7
    ).scaled(toWidth: options.width ?? 1280, height: options.height ?? 720)
    // There is no depth camera; the truth has depth at a quarter of the picture's size.
    let depth = color.scaled(toWidth: color.width / 4, height: color.height / 4)
    let rig = Rig(
      options, color: color, depth: depth)
    let moment = SeededNames.moment(seed: options.seed)
    let made =
      form.isAndroid
      ? "recording_\(moment.date(""))_\(moment.time(""))_\(SeededNames.hex(seed: options.seed, "session", count: 8))"
      : "session_\(moment.date())T\(moment.time())Z"
    let id = options.id ?? made
    let folder = try CaptureFolder(output: options.output, id: id, mayReplace: options.mayReplace)
    do {
      let writer = SessionWriter(plan: plan, options: options, folder: folder, rig: rig)
      let warnings = try writer.write(id: id, faults: faults)
      let places = try folder.publish()
      return SyntheticCapture(
        id: id, family: name, generation: form.rawValue, folder: places.capture,
        truth: places.truth, frames: plan.frames, warnings: warnings)
    } catch {
      folder.discard()
      throw error
    }
  }
}

/// Writes a session, frame by frame.
struct SessionWriter {
  let plan: SessionPlan
  let options: SynthesisOptions
  let folder: CaptureFolder
  let rig: Rig
  private let rate: Double
  private let times: SessionTimes

  init(plan: SessionPlan, options: SynthesisOptions, folder: CaptureFolder, rig: Rig) {
    self.plan = plan
    self.options = options
    self.folder = folder
    self.rig = rig
    rate = options.rate ?? 30
    times = SessionTimes(plan: plan, rate: rate, seed: options.seed)
  }

  func write(id: String, faults: [SyntheticFault]) throws -> [ExpectedWarning] {
    var truth = try TruthWriter(
      folder: folder.truth, rig: rig, frames: plan.frames, pictures: options.truthPictures,
      progress: options.progress)
    try writePictures(&truth)
    let tables = SessionTables(
      plan: plan, times: times, width: rig.color.width, height: rig.color.height,
      exposureSeconds: options.exposureSeconds)
    if plan.hasFrameTable {
      try tables.writeFrames(to: folder.capture.appending("frame_metadata.csv"))
    }
    let samples = SessionSamples(plan: plan, times: times, rig: rig, options: options)
    if plan.hasInertialTable {
      try tables.writeInertial(samples, to: folder.capture.appending("imu_data.csv"))
    }
    let report = SessionReport(
      id: id, plan: plan, options: options, rig: rig, rate: rate, faults: faults,
      expectation: SessionExpectation(plan: plan, times: times, samples: samples),
      tables: tables, present: samples.present)
    try truth.finish(expected: report.expected, truth: report.truth)
    return report.expectation.warnings.entries
  }

  private func writePictures(_ truth: inout TruthWriter) throws {
    let form = VideoSink.Form(
      container: .mp4, ticksPerSecond: SessionTimes.ticksPerSecond, bFrames: 2, range: .full)
    let isVideo = plan.form != .androidWide
    let video =
      plan.hasVideo && isVideo
      ? try VideoSink(
        folder.capture.appending("video.mp4"), form, camera: rig.color, options: options) : nil
    let second =
      plan.hasSecondVideo
      ? try VideoSink(
        folder.capture.appending("preview.mp4"), form, camera: rig.color, options: options) : nil
    if !isVideo { try FileSystem.makeFolder(folder.capture.appending("frames")) }
    var png = PNGWriter(compression: .compact)
    var renderer = ColorRenderer(
      room: rig.room, camera: rig.color, settings: options.pictureSettings, seed: options.seed)
    var exact = DepthRenderer(room: rig.room, camera: rig.depth)
    for frame in 0..<plan.frames {
      let nanoseconds = times.frame(frame)
      let state = rig.motion.state(at: times.worldSeconds(nanoseconds))
      exact.render(state.viewpoint())
      try truth.recordDepth(
        frame: frame, nanoseconds: nanoseconds, state: state, exact: exact, color: rig.color)
      guard plan.hasVideo, !plan.lostPictures.contains(frame) else { continue }
      renderer.reuse(video?.spare())
      let picture = renderer.render(frame: frame, state: state)
      try truth.recordColor(frame: frame, nanoseconds: nanoseconds, state: state)
      if isVideo {
        try video?.append(picture, ticks: times.ticks(frame))
        if frame < 3 { try second?.append(picture, ticks: times.ticks(frame)) }
      } else {
        let name = SessionTables.pictureName(frame)
        try OutputFile.write(png.encode(picture), to: folder.capture.appending(name))
      }
    }
    try video?.finish()
    try second?.finish()
  }
}

/// A fault of a VI-SLAM session.
typealias SessionFault = PlannedFault<SessionForm, SessionPlan>

enum SessionFaults {
  static let all: [SessionFault] = pictures + files + samples + text

  private static let pictures = [
    SessionFault(
      "dropped-pictures", "pictures", leastFrames: 24,
      "rows 7, 8 and 20 have no picture; numbers start at 1", in: { $0 != .androidWide }
    ) {
      $0.lostPictures = [7, 8, 20]
      $0.firstNumber = 1
    },
    SessionFault("gap", "frame times", "the camera misses half a period in the middle") {
      $0.gapAfterFrame = $0.frames / 2
    },
    SessionFault("swapped-frames", "frame rows", "two rows of the frame table are exchanged") {
      $0.swapsFrameRows = true
    },
    SessionFault(
      "wrong-size", "frame sizes", "two rows state another picture size",
      in: { $0 != .androidWide }
    ) {
      $0.wrongSizeRows = 2
    },
  ]

  private static let files = [
    SessionFault("missing-video", "pictures", "no video", in: { $0 != .androidWide }) {
      $0.hasVideo = false
    },
    SessionFault("two-videos", "video files", "a second video lies beside", in: { $0 == .v1 }) {
      $0.hasSecondVideo = true
    },
    SessionFault("missing-imu", "imu file", "no imu_data.csv") { $0.hasInertialTable = false },
    SessionFault(
      "missing-frames", "frame rows", "no frame_metadata.csv", in: { $0 != .androidWide }
    ) {
      $0.hasFrameTable = false
    },
  ]

  private static let samples = [
    SessionFault(
      "imu-short", "imu range", leastFrames: 30, "the sensors start late and end early"
    ) {
      $0.inertialLead = -0.11
      $0.inertialTail = -0.27
    },
    SessionFault("imu-gap", "imu times", leastFrames: 15, "0.2 seconds without samples") {
      $0.inertialGapSeconds = 0.2
    },
    SessionFault(
      "swapped-samples", "imu order", "two neighboring gyroscope rows are exchanged",
      in: { $0 != .androidWide }
    ) {
      $0.swapsGyroscope = true
    },
    SessionFault(
      "repeated-sample", "imu rows", "a gyroscope row stands twice", in: { $0 != .androidWide }
    ) {
      $0.repeatsGyroscope = true
    },
    SessionFault("nan-sample", "imu rows", "a row holds nan", in: { $0 != .androidWide }) {
      $0.hasNaNRow = true
    },
    SessionFault("short-row", "imu rows", "a row has too few cells", in: { $0 != .androidWide }) {
      $0.hasShortRow = true
    },
    SessionFault(
      "unknown-sensor", "imu types", "four rows of a barometer", in: { $0 != .androidWide }
    ) {
      $0.unknownRows = 4
    },
  ]

  private static let text = [
    SessionFault(
      "no-z", "imu file", "imu_data.csv lacks the column z: it cannot be read",
      in: { $0 == .v1 }
    ) {
      $0.lacksZ = true
    },
    SessionFault(
      "foreign-text", "imu text", "byte order mark, CR LF; no warning", in: { $0 == .v1 }
    ) {
      $0.hasForeignText = true
    },
    SessionFault(
      "cut-line", "imu end", "the last line of imu_data.csv is cut", in: { $0 == .v1 }
    ) {
      $0.cutsLastLine = true
    },
  ]
}

/// Makes the two truth documents of a VI-SLAM session.
struct SessionReport {
  let id: String
  let plan: SessionPlan
  let options: SynthesisOptions
  let rig: Rig
  let rate: Double
  let faults: [SyntheticFault]
  let expectation: SessionExpectation
  let tables: SessionTables
  let present: [Int]

  var expected: JSONTree {
    let frames = expectation.frameTimes.count
    let codes = plan.hasFrameTable ? Array(0..<plan.frames) : kept
    return [
      "description": .text(
        faults.isEmpty ? "no fault" : faults.map(\.summary).joined(separator: "; ")),
      "family": "vi-slam", "generation": .text(plan.form.generation), "id": .text(id),
      "frames": JSONTree(frames),
      "streams": [
        "frames": JSONTree(frames),
        "color": plan.hasVideo
          ? [
            "frames": JSONTree(plan.pictures), "width": JSONTree(rig.color.width),
            "height": JSONTree(rig.color.height),
            "encoding": plan.form == .androidWide ? "png" : "h264",
          ] : nil,
        "imu": ["samples": samples],
      ],
      "depthSha256": [], "confidenceSha256": [], "colorFrames": JSONTree(plan.pictures),
      "colorFrameCode": options.showsFrameCode
        ? .array(codes.map { hasPicture($0) ? JSONTree($0) : nil }) : nil,
      "howToReadFrameCode": .text(FrameCode.howToRead),
      "timestampsNs": [
        "frames": JSONTree(expectation.frameTimes), "color": JSONTree(expectation.colorTimes),
      ],
      "exposureS": .array(exposures.map { $0.seconds > 0 ? .number($0.seconds) : nil }),
      "iso": .array(exposures.map { $0.iso > 0 ? .number(Double($0.iso)) : nil }),
      "poses": [], "intrinsics": nil, "imu": imu, "warnings": expectation.warnings.json,
      "mustFail": plan.lacksZ && plan.hasInertialTable ? ["imu"] : [],
    ]
  }

  var truth: JSONTree {
    TruthDocument(
      family: "vi-slam", generation: plan.form.rawValue, id: id, options: options,
      faults: faults, rate: rate, frames: plan.frames, color: rig.color, depth: nil,
      colorFromDepth: nil
    ).json
  }

  private var kept: [Int] { (0..<plan.frames).filter { !plan.lostPictures.contains($0) } }

  private func hasPicture(_ frame: Int) -> Bool {
    plan.hasVideo && !plan.lostPictures.contains(frame)
  }

  private var exposures: [(seconds: Double, iso: Int)] {
    guard plan.hasFrameTable, plan.form != .androidWide else {
      return expectation.frameTimes.map { _ in (0, 0) }
    }
    return (0..<plan.frames).map(tables.exposure)
  }

  private var samples: JSONTree {
    guard !expectation.rows.isEmpty else { return [:] }
    var counts: [String: JSONTree] = [:]
    for type in present {
      counts[SessionSamples.types[type]] = JSONTree(expectation.times(of: type).count)
    }
    if plan.unknownRows > 0 { counts["barometer"] = JSONTree(plan.unknownRows) }
    return .object(counts)
  }

  private var imu: JSONTree {
    var perFrame: [String: JSONTree] = [:]
    if plan.hasFrameTable, !expectation.rows.isEmpty {
      for type in present {
        let times = expectation.times(of: type)
        perFrame[SessionSamples.types[type]] = JSONTree(
          expectation.frameTimes.map { time -> Int64? in
            guard let time else { return nil }
            let first = times.firstIndex(notBelow: time - 50_000_000)
            return Int64(times.firstIndex(notBelow: time + 50_000_001) - first)
          })
      }
    }
    return [
      "samples": samples, "first": row(expectation.rows.first), "last": row(expectation.rows.last),
      "windowNs": 50_000_000, "samplesPerFrame": .object(perFrame),
    ]
  }

  private func row(_ sample: SessionSample?) -> JSONTree {
    guard let sample else { return nil }
    return [
      .integer(sample.nanoseconds), .text(SessionSamples.types[sample.type]),
      .number(sample.value.x), .number(sample.value.y), .number(sample.value.z),
    ]
  }
}

/// What a reader must find in a VI-SLAM session, computed from the plan by the rules of the format.
struct SessionExpectation {
  let plan: SessionPlan
  private(set) var frameTimes: [Int64?]
  private(set) var colorTimes: [Int64?]
  /// Accepted rows, sorted.
  let rows: [SessionSample]
  private(set) var warnings = WarningTally()

  init(plan: SessionPlan, times: SessionTimes, samples: SessionSamples) {
    self.plan = plan
    var rows = plan.hasInertialTable && !plan.lacksZ ? samples.rows : []
    if plan.cutsLastLine, !rows.isEmpty { rows.removeLast() }
    self.rows = rows
    if plan.hasFrameTable {
      frameTimes = (0..<plan.frames).map { times.frame($0) }
      colorTimes = (0..<plan.frames).map {
        plan.hasVideo && !plan.lostPictures.contains($0) ? times.frame($0) : nil
      }
    } else {
      // Only the video's own clock.
      let kept = (0..<plan.frames).filter { !plan.lostPictures.contains($0) }
      frameTimes = kept.map {
        let nanoseconds = Double(times.ticks($0)) * 1e9 / Double(SessionTimes.ticksPerSecond)
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
    if plan.swapsFrameRows { warnings.add("timestamps-unordered") }
    if plan.hasVideo {
      warnings.add("frame-count-mismatch", plan.lostPictures.count)
      warnings.add("size-mismatch", plan.wrongSizeRows)
    }
  }

  private mutating func countFiles() {
    if !plan.hasVideo { warnings.add("missing-file") }
    if plan.hasSecondVideo { warnings.add("multiple-streams") }
    if !plan.hasInertialTable { warnings.add("imu-missing") }
  }

  private mutating func countSamples(present: [Int]) {
    guard plan.hasInertialTable, !plan.lacksZ else { return }
    if plan.swapsGyroscope { warnings.add("timestamps-unordered") }
    if plan.repeatsGyroscope { warnings.add("timestamps-duplicate") }
    if plan.hasNaNRow { warnings.add("non-finite-value") }
    if plan.hasShortRow { warnings.add("corrupt-record") }
    if plan.cutsLastLine { warnings.add("truncated-stream") }
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

import Captures
import Core
import Engine
import Media
import Processing
import Synchronization
import SystemPackage

/// Measures the quality of every frame, and judges the capture.
///
/// What a capture lacks is left empty in the table and out of the verdict. Pictures are judged as they were recorded,
/// all of them, whichever were published. Those that `color` did not measure are decoded for it, which gives the same.
enum MeasureQuality: Stage {
  static let name = CaptureQuality.stageKind
  static let version = 4
  static let sentence =
    "Measures sharpness, blur, clipping, depth and poses of every frame, and judges the capture: good, "
    + "usable, poor or unjudged."
  static let ports = [
    Port("color", .colorImages, isRequired: false, "color pictures (PNG or JPEG)"),
    Port("frames", .depthFrames, isRequired: false, "decoded depth"),
  ]
  static let parameters: [ParameterDescription] =
    ParameterDescription.list(purpose) + CalibrationChoice.parameters

  static let purpose = Parameter(
    "for", .text, default: QualityPurpose.standard,
    "What the capture is judged for: default, slam, reconstruction, training, or a file of thresholds."
  )

  static let goneParameters = Dictionary(
    uniqueKeysWithValues: QualityPurpose.keys.map {
      (
        $0,
        "is a threshold in the file that {stage}.for names: `scanmill list quality default` prints one to begin with"
      )
    })

  /// The table of frames.
  static let tableName = "quality.csv"
  static let columns = [
    "frame", "timestamp_ns", "sharpness", "sharpness_relative", "blur_px", "dark_share",
    "bright_share", "depth_share", "confidence_median", "depth_difference_median_mm",
    "depth_difference_p90_mm", "depth_difference_median_permille", "depth_difference_p90_permille",
    "pose_rotation_deg", "gyroscope_rotation_deg", "duplicate_of", "blur_effect",
    "blur_sigma_px", "sharpness_level",
  ]

  static let content = ArtifactContent.qualityTables

  static let reads: Set<CapturePart> = [
    .frames, .confidence, .imu, .poses, .intrinsics, .cameraSettings, .calibration,
  ]

  static func alsoReads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> { ports.contains("color") ? [.color] : [] }

  /// FFmpeg determines which pictures a video has, and their pixels.
  static func libraries(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: String] { capture.colorIsVideo ? LibraryVersions.ofVideo : [:] }

  static func fileProblems(_ parameters: ParameterValues) -> [StageProblem] {
    do throws(StageFailure) {
      _ = try QualityPurpose(parameters[purpose])
    } catch {
      return [StageProblem(parameter: purpose.name, "\(error)")]
    }
    return CalibrationChoice.fileProblems(pathProblems(parameters), parameters)
  }

  static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] {
    var files = CalibrationChoice.externalFiles(parameters, capture)
    let name = parameters[purpose]
    if QualityPurpose.isFile(name) { files[purpose.name] = FilePath(text: name) }
    return files
  }

  static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    let states = [CapturePart.color, .depth].map { capture.state(of: $0) }
    if states.contains(.present) {
      return CalibrationChoice.checked(.applies, parameters, capture)
    }
    // The stage of that stream reports the error.
    for case .unreadable(let why) in states {
      return .notApplicable("nothing can be measured: \(why)")
    }
    return .notApplicable("there is no color or depth that can be measured")
  }

  static func run(_ context: StageContext) throws -> StageResult {
    var frames = [FrameQuality](
      repeating: FrameQuality(), count: context.capture.frames.count)
    var pictures: CaptureQuality.Pictures?
    if let color = context.inputs["color"] {
      let measures = try PictureMeasures(color, context)
      for (frame, measure) in measures.byFrame where frames.indices.contains(frame) {
        frames[frame].picture = measure
      }
      pictures = CaptureQuality.Pictures(
        judged: measures.byFrame.count, of: max(measures.recorded, measures.byFrame.count))
    }
    frames.compareSharpness()
    MotionQuality(context.capture).measure(&frames)
    frames.findRepeats()
    try DepthQuality(context)?.measure(&frames, context)
    try measureConfidence(&frames, context)
    let thresholds = try QualityPurpose(context.parameters[purpose]).thresholds
    let figures = QualityVerdict.Figures(of: context.capture, thresholds.limits)
    guard let verdict = QualityVerdict(of: frames, thresholds, figures) else {
      throw StageDoesNotApply("no picture and no depth could be measured")
    }
    try write(frames, thresholds, context)
    var result = StageResult(
      frames: frames.count,
      recorded: CaptureQuality(verdict, thresholds, pictures: pictures).recorded)
    result.problems = problems(of: context.capture)
    return result
  }

  /// Unreadable files, each once: what depends on them is empty.
  private static func problems(of capture: Capture) -> [String] {
    var seen: Set<String> = []
    return [
      capture.framesProblem, capture.imu.error, capture.poses.error, capture.intrinsics.error,
      capture.cameraSettings.error, capture.confidence.error,
    ].compactMap { $0?.description }.filter { seen.insert($0).inserted }
  }

  private static func measureConfidence(
    _ frames: inout [FrameQuality], _ context: StageContext
  ) throws {
    guard let stream = context.capture.confidence.value else { return }
    let records = try SequentialRecords(stream)
    var pixels: [UInt8] = []
    for frame in frames.indices {
      try context.cancellation.check()
      guard try records.read(frame: frame, into: &pixels)?.hasPicture == true, !pixels.isEmpty
      else { continue }
      var counts = [Int](repeating: 0, count: 256)
      for pixel in pixels { counts[Int(pixel)] += 1 }
      var below = 0
      for value in counts.indices {
        below += counts[value]
        if below > pixels.count / 2 {
          frames[frame].confidence = value
          break
        }
      }
    }
  }

  private static func write(
    _ frames: [FrameQuality], _ thresholds: QualityVerdict.Thresholds, _ context: StageContext
  ) throws {
    try TableFile.write(tableName, columns, frames.enumerated(), context.staging) { index, frame in
      let width: Double? =
        if case .pixels(let width)? = frame.picture?.blurWidth { width } else { nil }
      return [
        index, context.capture.frames[index].timestamp?.nanoseconds,
        rounded(frame.picture?.sharpness, 1000), rounded(frame.relativeSharpness, 1000),
        rounded(frame.blurPixels, 1000), rounded(frame.picture?.darkShare, 10_000),
        rounded(frame.picture?.brightShare, 10_000), rounded(frame.depthShare, 10_000),
        frame.confidence, rounded(frame.agreement?.medianMillimeters, 100),
        rounded(frame.agreement?.ninthDecileMillimeters, 100),
        rounded(frame.agreement?.medianPermille, 100),
        rounded(frame.agreement?.ninthDecilePermille, 100), rounded(frame.poseDegrees, 10_000),
        rounded(frame.gyroscopeDegrees, 10_000), frame.duplicateOf,
        rounded(frame.picture?.blur, 1000), rounded(width, 100),
        frame.sharpnessLevel(thresholds)?.rawValue,
      ]
    }
  }

  private static func rounded(_ value: Double?, _ parts: Double) -> Double? {
    value.map { ($0 * parts).rounded() / parts }
  }
}

extension CaptureQuality {
  /// The verdict as it is recorded and shown.
  init(
    _ verdict: QualityVerdict, _ thresholds: QualityVerdict.Thresholds, pictures: Pictures?
  ) {
    self.init(
      verdict: Level(verdict.level), pictures: pictures,
      reasons: verdict.reasons.map { $0.words(thresholds) },
      judged: Dictionary(
        verdict.findings.map {
          ($0.subject.rawValue, Judged(value: $0.value, level: Level($0.level)))
        }, uniquingKeysWith: { first, _ in first }))
  }

  /// What the record of the stage holds of it. `ArtifactRecord.quality` reads it.
  var recorded: [String: JSONValue] {
    var recorded: [String: JSONValue] = [
      Key.verdict.rawValue: .string(verdict.rawValue),
      Key.reasons.rawValue: .array(reasons.map(JSONValue.string)),
      Key.judged.rawValue: .object(
        judged.mapValues {
          var judged: [String: JSONValue] = [Key.level.rawValue: .string($0.level.rawValue)]
          judged[Key.value.rawValue] = $0.value.map(JSONValue.number)
          return .object(judged)
        }),
    ]
    recorded[Key.pictures.rawValue] = pictures.map {
      .object([
        Key.judged.rawValue: .integer(Int64($0.judged)), Key.of.rawValue: .integer(Int64($0.of)),
      ])
    }
    return recorded
  }
}

extension CaptureQuality.Level {
  init(_ level: QualityVerdict.Level) {
    switch level {
    case .good: self = .good
    case .unjudged: self = .unjudged
    case .usable: self = .usable
    case .poor: self = .poor
    }
  }
}

extension QualityVerdict.Finding {
  /// `23 % of the pictures are blurred (limit 20 %)`.
  func words(_ thresholds: QualityVerdict.Thresholds) -> String {
    switch lack {
    case .sharpness(let flat, let noisy, let all):
      let causes = [
        flat > 0 ? "\(flat) show too little" : nil,
        noisy > 0 ? "\(noisy) have too much noise" : nil,
      ].compactMap(\.self).joined(separator: ", ")
      return "unjudged: how sharp \(flat + noisy) of \(all) pictures are cannot be told (\(causes))"
    case .overlap(let pairs):
      return "unjudged: depth and poses do not fit together, or the camera is too fast: "
        + (pairs == 1
          ? "the one pair of neighboring frames does not see the same surfaces"
          : "none of \(pairs) pairs of neighboring frames sees the same surfaces")
    case .other(let why): return "unjudged: \(why)"
    case nil: break
    }
    let limits = thresholds.limits[subject]
    let limit = (level == .poor ? limits?.poor : limits?.usable) ?? 0
    let (value, bound) = (subject.text(value ?? 0), subject.text(limit))
    return switch subject {
    case .blurred: "\(value) of the pictures are blurred (limit \(bound))"
    case .clipped: "\(value) of the pictures are too dark or too bright (limit \(bound))"
    case .duplicates: "\(value) of the pictures repeat an earlier one (limit \(bound))"
    case .depthMissing: "\(value) of the depth is missing (limit \(bound))"
    case .depthDisagreement:
      "depth differs by \(value) from that of the frame before (limit \(bound))"
    case .rotationDisagreement:
      "poses and gyroscope differ by \(value) from frame to frame (limit \(bound))"
    case .sensorInterval: "the gyroscope has a sample every \(value) (limit \(bound))"
    case .sensorGap: "the gyroscope has no sample for \(value) (limit \(bound))"
    case .timeOffset: "the clocks of IMU and pictures differ by \(value) (limit \(bound))"
    case .exposure: "pictures are exposed for \(value) (limit \(bound))"
    case .overlapMissing:
      "\(value) of neighboring frames do not see the same surfaces (limit \(bound))"
    case .posesMissing: "\(value) of the frames have no pose (limit \(bound))"
    }
  }
}

/// What depth frames tell of themselves: how much of each is measured, and how well it agrees with the
/// depth before it once both are placed by their poses.
struct DepthQuality {
  private let reader: FrameStoreReader
  /// `nil` where the cameras do not tell how depth lies in space.
  private let agreement: DepthAgreement?
  private let poses: [Int: Pose]
  /// How many frames before each lies the depth that it is compared with.
  private let step: Int

  /// `nil` without decoded depth.
  init?(_ context: StageContext) throws {
    guard let input = context.inputs["frames"] else { return nil }
    let reader = try FrameStoreReader(input.folder)
    let poses = context.capture.posesByFrame
    let frames = context.capture.frames
    let placed = frames.indices.filter { poses[$0] != nil && reader.hasPicture($0) }
    step = frames.usualStep(of: placed)
    (self.reader, self.poses) = (reader, poses)
    agreement = poses.isEmpty ? nil : try Self.agreement(context, reader.store)
  }

  private static func agreement(
    _ context: StageContext, _ store: FrameStore
  ) throws -> DepthAgreement? {
    let isStated = CaptureSummary.missing(in: context.capture.alignment).isEmpty
    guard isStated || context.externalFiles["calibration"] != nil,
      context.capture.color.value?.isMirrored != true
    else { return nil }
    let cameras = try CalibrationChoice.cameras(context, store)
    return try DepthAgreement(
      calibration: cameras.calibration, depthSize: cameras.depthSize, colorSize: cameras.colorSize)
  }

  /// Fills in the figures of depth, on all cores.
  func measure(_ frames: inout [FrameQuality], _ context: StageContext) throws {
    let wanted = frames.indices.filter(reader.hasPicture)
    context.progress.expect(wanted.count)
    let found = try concurrentMap(count: wanted.count, budget: context.budget) { place in
      try context.cancellation.check()
      defer { context.progress.advance() }
      return figures(of: wanted[place])
    }
    for (frame, figures) in zip(wanted, found) {
      frames[frame].depthShare = figures.share
      frames[frame].comparesDepth = figures.isCompared
      frames[frame].agreement = figures.agreement
    }
  }

  private func figures(
    of frame: Int
  ) -> (share: Double, isCompared: Bool, agreement: DepthAgreement.Result?) {
    reader.withFrame(frame, as: UInt16.self) { depth in
      let share =
        depth.isEmpty ? 0 : Double(DepthImage.measured(depth)) / Double(depth.count)
      guard let agreement, reader.hasPicture(frame - step), let pose = poses[frame],
        let before = poses[frame - step]
      else { return (share, false, nil) }
      return reader.withFrame(frame - step, as: UInt16.self) { other in
        (share, true, agreement.compare(depth, at: pose, with: other, at: before))
      }
    }
  }
}

import Captures
import Media
import Core
import Engine
import Processing
import Synchronization
import SystemPackage

/// Measures the quality of every frame, and judges the capture.
///
/// What a capture lacks is left empty in the table and out of the verdict. Pictures are judged as they were recorded,
/// all of them, whichever were published. Those that `color` did not measure are decoded for it.
public enum MeasureQuality: Stage {
  public static let name = CaptureQuality.stageKind
  public static let version = 3
  public static let sentence =
    "Measures sharpness, blur, clipping, depth and poses of every frame, and judges the capture: good, "
    + "usable, poor or unjudged."
  public static let ports = [
    Port("color", .colorImages, isRequired: false, "color pictures (PNG or JPEG)"),
    Port("frames", .depthFrames, isRequired: false, "decoded depth"),
  ]
  public static let parameters: [ParameterDescription] =
    QualityParameters.all + CalibrationChoice.parameters

  /// The table of frames.
  static let tableName = "quality.csv"
  static let columns = [
    "frame", "timestamp_ns", "sharpness", "sharpness_relative", "blur_px", "dark_share",
    "bright_share", "depth_share", "confidence_median", "depth_difference_median_mm",
    "depth_difference_p90_mm", "depth_difference_median_permille", "depth_difference_p90_permille",
    "pose_rotation_deg", "gyroscope_rotation_deg", "duplicate_of", "blur_effect",
    "blur_sigma_px", "sharpness_level",
  ]

  public static func content(_ parameters: ParameterValues) -> ArtifactContent { .qualityTables }

  public static func reads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> {
    let color: Set<CapturePart> = ports.contains("color") ? [.color] : []
    return color.union([
      .frames, .confidence, .imu, .poses, .intrinsics, .cameraSettings, .calibration,
    ])
  }

  /// FFmpeg determines which pictures a video has, and their pixels.
  public static func libraries(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: String] { capture.colorIsVideo ? LibraryVersions.ofVideo : [:] }

  public static func fileProblems(_ parameters: ParameterValues) -> [StageProblem] {
    CalibrationChoice.fileProblems(pathProblems(parameters), parameters)
  }

  public static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] { CalibrationChoice.externalFiles(parameters, capture) }

  public static func problems(_ stage: StageDefinition) -> [StageProblem] {
    QualityParameters.problems(stage)
  }

  public static func applicability(
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

  public static func run(_ context: StageContext) throws -> StageResult {
    var frames = [FrameQuality](
      repeating: FrameQuality(), count: context.capture.frames.count)
    var recorded: [String: JSONValue] = [:]
    var pictures: CaptureQuality.Pictures?
    if let color = context.inputs["color"] {
      let measures = try PictureMeasures(color, context)
      for (frame, measure) in measures.byFrame where frames.indices.contains(frame) {
        frames[frame].picture = measure
      }
      if measures.wereMeasured { recorded["picturesWereDecoded"] = .bool(true) }
      pictures = CaptureQuality.Pictures(
        judged: measures.byFrame.count, of: max(measures.recorded, measures.byFrame.count))
    }
    SharpnessNeighbors.compare(&frames)
    MotionQuality(context.capture).measure(&frames)
    RepeatedPictures.find(&frames)
    try DepthQuality(context)?.measure(&frames, context)
    try measureConfidence(&frames, context)
    let thresholds = QualityParameters.thresholds(context.parameters)
    guard let verdict = QualityVerdict(of: frames, thresholds) else {
      throw StageDoesNotApply("no picture and no depth could be measured")
    }
    try write(frames, thresholds, context)
    recorded.merge(CaptureQuality(verdict, thresholds, pictures: pictures).recorded) { first, _ in
      first
    }
    var result = StageResult(frames: frames.count, recorded: recorded)
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
    var table = try TableFile(tableName, columns, context.staging)
    for (index, frame) in frames.enumerated() {
      table.csv.field(index)
      table.csv.field(context.capture.frames[index].timestamp?.nanoseconds)
      table.csv.field(rounded(frame.picture?.sharpness, 1000))
      table.csv.field(rounded(frame.relativeSharpness, 1000))
      table.csv.field(rounded(frame.blurPixels, 1000))
      table.csv.field(rounded(frame.picture?.darkShare, 10_000))
      table.csv.field(rounded(frame.picture?.brightShare, 10_000))
      table.csv.field(rounded(frame.depthShare, 10_000))
      table.csv.field(frame.confidence.map(Int64.init))
      table.csv.field(rounded(frame.agreement?.medianMillimeters, 100))
      table.csv.field(rounded(frame.agreement?.ninthDecileMillimeters, 100))
      table.csv.field(rounded(frame.agreement?.medianPermille, 100))
      table.csv.field(rounded(frame.agreement?.ninthDecilePermille, 100))
      table.csv.field(rounded(frame.poseDegrees, 10_000))
      table.csv.field(rounded(frame.gyroscopeDegrees, 10_000))
      table.csv.field(frame.duplicateOf.map(Int64.init))
      table.csv.field(rounded(frame.picture?.blur, 1000))
      let width: Double? =
        if case .pixels(let width)? = frame.picture?.blurWidth { width } else { nil }
      table.csv.field(rounded(width, 100))
      table.csv.field(frame.sharpnessLevel(thresholds)?.rawValue)
      try table.endRow()
    }
    try table.finish()
  }

  private static func rounded(_ value: Double?, _ parts: Double) -> Double? {
    value.map { ($0 * parts).rounded() / parts }
  }
}

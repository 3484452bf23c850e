import Captures
import Core
import Engine
import Media
import Processing
import Synchronization
import SystemPackage

/// Decodes the color video to pictures: every picture once, in presentation order, named by
/// canonical index.
public enum DecodeColor: SelectingStage {
  public static let name = "decode-color"
  public static let version = 7
  public static let sentence =
    "Decodes the color video; every picture once, in presentation order, upright, 8-bit RGB."
  public static let ports: [Port] = []
  public static let parameters =
    CommonParameters.selection + PickParameters.picking
    + ParameterDescription.list(format, quality, compression, conversion, matrix, range)
    + PictureShapeParameters.own.all + ParameterDescription.list(LightParameters.hdr)

  static let format = Parameter(
    "format", .choice([.png, .jpeg]), default: PictureEncoding.png,
    "The format of the pictures.")
  static let quality = Parameter(
    "quality", .integer(1...100), default: PictureWriter.usualQuality,
    "JPEG quality; PNG is lossless."
  ).needing(format, .jpeg)
  static let compression = CommonParameters.compression.needing(format, .png)
  static let conversion = Parameter(
    "conversion", .choice(), default: ColorConversion.ffmpeg,
    "ffmpeg: the pixels of the ffmpeg command line. accurate: chroma interpolated fully, rounded "
      + "to nearest."
  ).forExperts()
  static let matrix = Parameter<ColorMatrix?>(
    "matrix", .choice([.bt601, .bt709, .bt2020], or: "auto"), default: nil,
    "Overrides the stream's matrix tag."
  ).forExperts()
  static let range = Parameter<ColorRange?>(
    "range", .choice(or: "auto"), default: nil, "Overrides the stream's range tag."
  ).forExperts()

  public static let goneParameters = [
    "measure": "is gone: quality measures the pictures without it",
    "pickChange": "is gone: it is a constant",
    "pickGroup":
      "is {stage}.count now: the number of groups, of each of which one picture is taken",
    "pickMaximum": "is {stage}.count now",
  ]

  /// Parameters that decide what values pictures have, from a record of this stage; all others are at their default.
  static func conversions(of recorded: [String: JSONValue]) -> ParameterValues {
    var values = ParameterValues(defaultsOf: parameters)
    for name in [conversion.name, matrix.name, range.name, LightParameters.hdr.name] {
      if case .string(let text)? = recorded[name] { values[name] = .text(text) }
    }
    return values
  }

  public static let content = ArtifactContent.colorImages

  public static let reads: Set<CapturePart> = [.color]

  public static func alsoReads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> {
    PickParameters.reads(parameters)
      .union(
        parameters[PictureShapeParameters.own.undistort] ? [.intrinsics, .calibration] : [])
  }

  public static func fileProblems(_ parameters: ParameterValues) -> [StageProblem] {
    CalibrationChoice.fileProblems(
      pathProblems(parameters) + PickParameters.problems(parameters)
        + LightParameters.problems(parameters), parameters, for: .color)
  }

  public static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] {
    PictureShapeParameters.own.file(parameters, deviceID: capture.deviceID)
      .map { [PictureShapeParameters.externalFile: $0] } ?? [:]
  }

  /// FFmpeg determines which pictures a video has, and their pixels; zimg those of converted ones.
  public static func libraries(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: String] {
    guard capture.colorIsVideo else { return [:] }
    return LightParameters.converts(parameters, capture)
      ? LibraryVersions.ofVideo.merging(LibraryVersions.zimg) { first, _ in first }
      : LibraryVersions.ofVideo
  }

  /// HDR is told as long as nothing is chosen.
  public static func settles(_ warning: CaptureWarning, _ parameters: ParameterValues) -> Bool {
    warning.code == .hdrVideo && parameters[LightParameters.hdr] != nil
  }

  public static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    let color = Applicability(capture.state(of: .color))
    if case .applies = color,
      let refusal = LightParameters.refusal(parameters, isVideo: capture.colorIsVideo)
    {
      return .unreadable(refusal)
    }
    guard parameters[PictureShapeParameters.own.undistort] else { return color }
    return CalibrationChoice.checked(color, parameters, capture)
  }

  public static func run(_ context: StageContext) throws -> StageResult {
    if let color = context.capture.color.value,
      let nothing = CommonParameters.nothingLeft(
        context.stage, context.parameters, of: color.countedFrames)
    {
      throw StageDoesNotApply(nothing)
    }
    return try decode(context, CommonParameters.selection(context.parameters))
  }

  /// The shape that the pictures will have; `nil` as recorded by the camera.
  static func published(_ context: StageContext) throws -> PublishedShape? {
    guard let color = context.capture.color.value else { return nil }
    return try ColorShaping(context, color)?.published
  }

  /// Decodes and shapes the pictures of the selected frames with the parameters of this stage in `context`, and writes
  /// them.
  ///
  /// - Parameter visit: called once for each picture that can be decoded, by any thread, in place of writing it.
  static func decode(
    _ context: StageContext, _ selection: FrameSelection, visit: PictureVisitor? = nil
  ) throws -> StageResult {
    guard let color = context.capture.color.value else { return StageResult(frames: 0) }
    let shaping = try ColorShaping(context, color)
    let light = try light(context, color)
    // The stage that measures quality would have to decode the pictures once more.
    let isMeasured = visit == nil && context.readers.contains(MeasureQuality.name)
    let gauge = isMeasured ? PictureGauge() : nil
    let candidates = color.countedFrames.filter(selection.contains).sorted()
    let even = visit == nil ? PickParameters.even(candidates, context.parameters) : nil
    let selection = even.map { FrameSelection(only: Set($0)) } ?? selection
    let plan = visit == nil ? PickPlan(context, candidates, selection) : nil
    let publisher = PicturePublisher(
      context: context, shaping: shaping, visit: visit, gauge: gauge)
    var result =
      switch color.source {
      case .video(let file, let track):
        try VideoExport(
          publisher, color, file: file, track: track, selection,
          plan: plan?.scanned(context, color, file, track), light: light
        ).run()
      case .stills(let files):
        try StillPicking.exporting(
          context, plan, selection,
          files.indices.map { ($0, color.frame(ofPicture: $0)) },
          decode: { StillExport.decode(files[$0]) }
        ) { context, selection in
          try StillExport(
            publisher: publisher.with(context), color: color, files: files, selection: selection
          ).run()
        }
      case .pictures(let pictures):
        try StillPicking.exporting(
          context, plan, selection,
          (0..<pictures.count).map { ($0, color.frame(ofPicture: $0)) },
          decode: {
            let outcome = try pictures.decode($0)
            return (outcome.picture, outcome.issue)
          }
        ) { context, selection in
          try PictureExport(
            publisher: publisher.with(context), color: color, pictures: pictures,
            selection: selection
          ).run()
        }
      }
    try gauge?.write(context.staging)
    if let even {
      let written = Set(context.staging.outputs.compactMap { FrameFileName.frame($0.path) })
      let picked = PickedFrames(
        even.filter(written.contains), PickPlan.factsOfEven(candidates.count))
      result.recorded.merge(picked.recorded) { _, new in new }
    }
    if let shaping { result.recorded.merge(shaping.published.recorded) { _, new in new } }
    if let treatment = context.parameters[LightParameters.hdr] {
      let published =
        light?.published
        ?? PublishedLight(unconverted: PublishedLight.reason(color), treatment)
      result.recorded.merge(published.recorded) { _, new in new }
    }
    return result
  }

  /// What converts the pictures; `nil` if they stay as they are.
  private static func light(_ context: StageContext, _ color: ColorStream) throws -> ColorLight? {
    guard case .video(let file, _) = color.source else {
      if let refusal = LightParameters.refusal(context.parameters, isVideo: false) {
        throw StageFailure(refusal, cause: .input)
      }
      return nil
    }
    return try ColorLight(context, color, file: file)
  }
}

extension PickPlan {
  /// The plan for a video, with the groups of its pictures where these must be compared, without keeping any. Damage is
  /// not reported: the pass that writes meets it again.
  ///
  /// Cost: with comparison, decoding the video once more.
  func scanned(
    _ context: StageContext, _ color: ColorStream, _ file: FilePath, _ track: Int
  ) throws -> PickPlan {
    guard needsScan else { return self }
    let decoder = try SharedVideoDecoder(
      context, color, file: file, track: track, workNanosecondsPerPixel: 0)
    let wanted = Set(frames)
    let state = Mutex(
      (
        picking: VideoPicking(self, size: color.uprightSize, keeps: false),
        accounting: PictureAccounting(
          counted: color.countedFrames.count, frameOfPicture: color.frameOfPicture,
          selection: FrameSelection(only: wanted), width: color.description.width,
          height: color.description.height)
      ))
    try pullFrames(
      workers: 1, budget: context.budget, precedence: .first, makeScratch: {},
      next: { (_: inout Void) throws -> Int? in
        while true {
          try context.cancellation.check()
          guard let picture = try decoder.next() else { return nil }
          context.progress.showLife()
          let isOver = try state.withLock { state in
            guard let frame = state.accounting.enter(picture) else {
              return state.accounting.isOver
            }
            _ = try state.picking.take(picture, frame: frame)
            return false
          }
          if isOver { return nil }
        }
      }, work: { _, _ in })
    return state.withLock { scanned($0.picking.plan, $0.picking.starts) }
  }
}

/// Writes color pictures of one file each: upright, 8-bit RGB, or the file itself where that is what
/// is asked for.
struct PictureExport {
  let publisher: PicturePublisher
  let color: ColorStream
  let pictures: ColorPictures
  let selection: FrameSelection

  private var context: StageContext { publisher.context }

  /// Whether a JPEG file that is upright is copied: nothing but the format is asked for.
  private var copiesJPEG: Bool {
    publisher.visit == nil && publisher.shaping == nil
      && context.parameters[DecodeColor.format] == .jpeg
      && context.parameters[DecodeColor.quality] == PictureWriter.usualQuality
  }

  func run() throws -> StageResult {
    let wanted = (0..<pictures.count).filter { selection.contains(frame(of: $0)) }
    context.progress.expect(wanted.count)
    let outcomes = try concurrentMap(count: wanted.count, budget: context.budget) { place in
      try context.cancellation.check()
      defer { context.progress.advance() }
      return try export(wanted[place])
    }
    let count = outcomes.count { $0.hasPicture }
    if count == 0, let issue = outcomes.lazy.compactMap(\.issue).first {
      // A single lost picture is a hole; without any picture the stream is unreadable.
      throw UnreadableStream(description: issue.message)
    }
    let tally = OutcomeTally(subject: "color")
    for outcome in outcomes {
      tally.add(RecordOutcome(hasPicture: outcome.hasPicture, issue: outcome.issue))
    }
    for warning in tally.warnings { context.warnings.add(warning) }
    var result = StageResult(frames: count)
    result.record(tally.holes(of: wanted.count), in: "color")
    return result
  }

  private func frame(of index: Int) -> Int { color.frame(ofPicture: index) }

  /// Writes or visits one picture, if it can be read whole.
  private func export(_ index: Int) throws -> (hasPicture: Bool, issue: FrameIssue?) {
    let frame = frame(of: index)
    if copiesJPEG {
      let stored = try pictures.stored(index)
      guard let bytes = stored.bytes else { return (false, stored.issue) }
      if stored.isUprightJPEG {
        try context.staging.write(bytes, as: FrameFileName.name(frame, "jpg"))
        if let gauge = publisher.gauge, let picture = try pictures.decode(index).picture {
          gauge.measure(frame, rgb: picture.rgb, width: picture.width, height: picture.height)
        }
        return (true, stored.issue)
      }
    }
    let outcome = try pictures.decode(index)
    guard let picture = outcome.picture else { return (false, outcome.issue) }
    try publisher.publish(frame, picture)
    return (true, outcome.issue)
  }
}

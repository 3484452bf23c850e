import Captures
import Core
import Engine
import Media
import Processing
import Synchronization
import SystemPackage

/// Depth as the color camera would measure it.
public enum AlignDepth: PickFollowingStage {
  public static let name = "align-depth"
  public static let version = 4
  public static let sentence =
    "Projects depth into the color camera: Z along its optical axis on the color grid, millimeters."
  public static let ports = [
    Port("frames", .depthFrames, isRequired: true, "decoded and filtered depth"),
    PickParameters.colorPort,
  ]
  public static let parameters =
    ParameterDescription.list(surface, grid, confidence) + CommonParameters.selection
    + PickParameters.picking
    + AlignmentParameters.described(
      absolute: "Neighbors that differ more than this plus the relative part are not joined.",
      fraction: "the nearer depth") + PictureShapeParameters.followed + CommonParameters.followed
    + PickParameters.followed

  static let surface = Parameter(
    "surface", .choice(), default: AlignmentParameters.standard.surface,
    "mesh joins neighbors and cuts at discontinuities; points and rectangle are what other tools do."
  )
  static let grid = Parameter(
    "grid", .choice(), default: AlignmentParameters.standard.grid,
    "The output grid, intrinsics scaled so that the outer borders stay in place.")
  private static let confidence = Parameter(
    "confidence", .flag, default: false,
    "Also write confidence/: of each pixel the value that the app states for its depth, 0 without depth."
  ).added()

  public static let content = ArtifactContent.alignedImages

  public static let reads: Set<CapturePart> = [.calibration]

  public static func alsoReads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> {
    PickParameters.reads(parameters).union(parameters[confidence] ? [.confidence] : [])
  }

  public static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    // A capture without confidence has depth all the same.
    if parameters[confidence], case .unreadable(let why) = capture.state(of: .confidence) {
      return .unreadable(why)
    }
    return CalibrationChoice.applicability(parameters, capture)
  }

  public static func fileProblems(_ parameters: ParameterValues) -> [StageProblem] {
    CalibrationChoice.fileProblems(
      pathProblems(parameters) + PickParameters.problems(parameters), parameters)
  }

  public static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] { CalibrationChoice.externalFiles(parameters, capture) }

  public static func run(_ context: StageContext) throws -> StageResult {
    guard let input = context.inputs["frames"] else { return StageResult(frames: 0) }
    let reader = try FrameStoreReader(input.folder)
    let store = reader.store
    let aligner = try aligner(context, store)
    let grid = aligner.outputIntrinsics
    let certainties = try ConfidenceFrames(
      context, isNeeded: context.parameters[Self.confidence])
    let sampler = certainties.map { _ in ConfidenceSampler(aligner) }
    let confidence = Mutex(certainties)
    let compression = context.parameters[CommonParameters.compression]
    let turn = Atomic<Int>(0)
    let written = Atomic<Int>(0)
    let leftovers = LeftoverTally()
    let (wanted, picked) = try FramePicking.choose(
      (0..<store.frameCount).filter(reader.hasPicture), context)
    let frames = wanted.count
    // Whole frames in parallel use the cores best; a few frames are split into bands. The bytes are
    // the same.
    let bands = max(1, context.budget.share / max(1, frames))
    context.progress.expect(frames)
    try pullFrames(
      workers: context.workers, budget: context.budget,
      makeScratch: { Scratch(writer: PNGWriter(compression: compression)) },
      next: { (scratch: inout Scratch) throws -> Int? in
        try context.cancellation.check()
        let position = turn.add(1, ordering: .relaxed).oldValue
        guard position < wanted.count else { return nil }
        scratch.confidence = try confidence.withLock { try $0?.read(wanted[position]) }
        return wanted[position]
      },
      work: { (frame: Int, scratch: inout Scratch) throws -> Void in
        try reader.withFrame(frame, as: UInt16.self) { depth in
          try aligner.align(
            depth, bands: bands, scratch: &scratch.alignment, into: &scratch.aligned)
          leftovers.add(read: depth, left: scratch.aligned.span)
        }
        try scratch.writer.encode(
          gray16: scratch.aligned, width: grid.width, height: grid.height, into: &scratch.file)
        try context.staging.write(scratch.file, as: FrameFileName.name(frame))
        if let sampler, let confidence = scratch.confidence {
          sampler.sample(confidence, for: scratch.aligned, into: &scratch.certainty)
          try scratch.writer.encode(
            gray8: scratch.certainty, width: grid.width, height: grid.height, into: &scratch.file)
          try context.staging.write(scratch.file, as: "confidence/" + FrameFileName.name(frame))
        }
        written.add(1, ordering: .relaxed)
        context.progress.advance()
      })
    leftovers.report(
      "aligned", "depth pixels",
      "none has a place in the color picture; check the calibration, "
        + AlignmentParameters.settings(context.parameters), to: context.warnings)
    return StageResult(
      frames: written.load(ordering: .relaxed),
      recorded: try recorded(aligner).merging(
        PublishedShape(shape: shape(context.parameters)).recorded
      ) { own, _ in own }.merging(picked?.recorded ?? [:]) { own, _ in own })
  }

  private struct Scratch {
    var alignment = AlignmentScratch()
    var aligned: [UInt16] = []
    var confidence: GrayImage?
    var certainty: [UInt8] = []
    var writer: PNGWriter
    var file: [UInt8] = []
  }

  private static func aligner(
    _ context: StageContext, _ store: FrameStore
  ) throws -> DepthAligner {
    let cameras = try CalibrationChoice.cameras(context, store)
    let shape = shape(context.parameters)
    if shape.undistorts {
      _ = try ColorShaping.lens(
        cameras.calibration.colorDistortion, isOfFile: !cameras.isCapturesOwn)
    }
    return try DepthAligner(
      calibration: cameras.calibration, parameters: AlignmentParameters(context.parameters),
      depthSize: cameras.depthSize, colorSize: cameras.colorSize,
      clockwiseQuarterTurns: cameras.clockwiseQuarterTurns, shape: shape)
  }

  /// The shape of the color pictures that the output belongs to.
  private static func shape(_ values: ParameterValues) -> PictureShape {
    PictureShapeParameters.following.shape(values)
  }

  private static func recorded(_ aligner: DepthAligner) throws -> [String: JSONValue] {
    let grid = aligner.outputIntrinsics
    var recorded: [String: JSONValue] = [
      "outputIntrinsics": grid.recorded
    ]
    if !aligner.rescaledCameras.isEmpty {
      recorded["rescaledIntrinsics"] = aligner.rescaledCameras.recorded
    }
    return recorded
  }
}

/// The parameters that alignment stages in both directions share: discontinuities, calibration and
/// compression.
extension AlignmentParameters {
  static let standard = AlignmentParameters()

  private static let absolute = Parameter(
    "discontinuityAbsolute", .length(0...65.535), default: standard.discontinuityAbsolute, ""
  ).needing(AlignDepth.surface, .mesh).forExperts()
  private static let relative = Parameter(
    "discontinuityRelative", .number(0...1000), default: standard.discontinuityRelative, ""
  ).needing(AlignDepth.surface, .mesh).forExperts()
  private static let least = Parameter(
    "minimumDepth", .length(1e-9...65.535), default: standard.minimumDepth,
    "Points nearer to the color camera are not used."
  ).forExperts()

  /// - Parameters:
  ///   - absolute: describes what the absolute part of the discontinuity decides.
  ///   - fraction: describes of which depth the relative part is a fraction.
  static func described(absolute: String, fraction: String) -> [ParameterDescription] {
    ParameterDescription.list(
      Self.absolute.saying(absolute),
      relative.saying("Fraction of \(fraction), see \(Self.absolute.name)."), least)
      + CalibrationChoice.parameters + ParameterDescription.list(CommonParameters.compression)
  }

  /// The set parameters that discard depth, as text.
  static func settings(_ values: ParameterValues) -> String {
    values.settings(ParameterDescription.list(least, absolute, relative))
  }

  init(_ values: ParameterValues) {
    self.init(
      surface: values[AlignDepth.surface], grid: values[AlignDepth.grid],
      discontinuityAbsolute: values[Self.absolute], discontinuityRelative: values[Self.relative],
      minimumDepth: values[Self.least])
  }
}

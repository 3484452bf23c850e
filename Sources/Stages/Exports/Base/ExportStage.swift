import Captures
import Engine
import SystemPackage

/// A stage that writes a capture in the layout of another tool.
protocol ExportStage: Stage {
  /// Needs of the export from the capture and from every frame.
  static var needs: ExportNeeds { get }
  /// Whether it is made of frames, so that some of them can be chosen before pictures are decoded for it.
  static var hasFrames: Bool { get }
  /// What depth it takes.
  static var depthRule: DepthChoice.Rule { get }
  /// Whether it uses depth with these parameters. If not, none is made for it.
  static func wantsDepth(_ parameters: ParameterValues) -> Bool
  /// Whether it writes no depth pictures, so that depth may have another grid than color.
  static var takesDepthOfAnyGrid: Bool { get }
  /// Whether its readers open color pictures of 16 bits (`color.hdr`). Where it makes others of them, it
  /// fails by itself.
  static var takesWidePictures: Bool { get }
  /// The port of the pictures that it writes, `color`, `jpeg` or `gray`; `nil` for none. By default that of the parameter
  /// `pictures`; `color` without one.
  static func pictures(_ parameters: ParameterValues) -> String?
  /// The frames that it writes, chosen from existing pictures or before they are made.
  ///
  /// - Throws: `StageDoesNotApply` when no frame is left.
  static func chooseFrames(_ source: ExportSource) throws -> ExportFrames
  /// Writes the files of `frames`, states what they contain, and describes them. Only `run` calls it.
  static func write(
    _ frames: [Int], of source: ExportSource, to folder: ExportFolder,
    _ content: inout ExportContent
  ) throws -> ExportReadme
}

extension ExportStage {
  static var hasFrames: Bool { true }
  static var depthRule: DepthChoice.Rule { .never }
  static func wantsDepth(_ parameters: ParameterValues) -> Bool { true }
  static var takesDepthOfAnyGrid: Bool { false }
  static var takesWidePictures: Bool { false }
  static var reads: Set<CapturePart> { [] }
  static func pictures(_ parameters: ParameterValues) -> String? {
    PictureEncoding.port(parameters)
  }
  static func chooseFrames(_ source: ExportSource) throws -> ExportFrames {
    try ExportFrames(source, needs)
  }

  static func write(
    _ frames: [Int], of source: ExportSource, to folder: ExportFolder,
    _ content: inout ExportContent
  ) throws -> ExportReadme {
    throw InternalError("\(name) writes no frames")
  }

  static func run(_ context: StageContext) throws -> StageResult {
    let source = try source(context)
    let exported = try chooseFrames(source)
    let folder = ExportFolder(context)
    var content = ExportContent(source, exported)
    let readme = try write(exported.frames, of: source, to: folder, &content)
    return try folder.finish(content, readme)
  }

  /// Picture ports that exports share; each stage lists those that it may read.
  static var colorPort: Port {
    Port("color", .colorImages, isRequired: false, "color pictures")
  }
  static var jpegPort: Port {
    Port("jpeg", .jpegImages, isRequired: false, "color pictures as JPEG, made once for several")
  }
  static var grayPort: Port {
    Port("gray", .grayImages, isRequired: false, "gray pictures, made once for several")
  }
  static var depthPort: Port {
    Port("depth", .depthImages, isRequired: false, "depth on the depth camera's grid")
  }
  static var maskPort: Port {
    Port("masks", .maskImages, isRequired: false, "which pixels are to be used")
  }
  static var alignedPort: Port {
    Port("aligned", .alignedImages, isRequired: false, "depth on the color grid")
  }

  static var content: ArtifactContent { .files }

  static func libraries(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: String] { FrameEXIF.versions(parameters) }

  static func alsoReads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> {
    PickParameters.reads(parameters).union([.frames, .intrinsics, .poses, .calibration])
      .union(parameters[FrameEXIF.parameter] == .place ? [.geo] : [])
  }

  static func connects(
    _ port: String, _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Bool {
    let depth =
      wantsDepth(parameters) ? DepthChoice(depthRule, parameters, capture) : DepthChoice.none
    switch port {
    case "depth": return depth == .native
    case "aligned": return depth == .aligned
    case "color":
      // Frames are picked by the pixels of color/.
      return PickParameters.needsPictures(parameters) || pictures(parameters) == "color"
    case "masks": return parameters[ExportParameters.masks]
    case "jpeg", "gray": return pictures(parameters) == port
    case TimeOffsetChoice.portName: return TimeOffsetChoice.isAuto(parameters)
    default: return true
    }
  }

  static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    let found = needs.applicability(name, parameters, capture)
    guard case .applies = found else { return found }
    // Whatever an export reads must be readable, even if it is not needed.
    for part in CapturePart.allCases
    where part == .poses || part == .intrinsics || reads.contains(part) {
      if case .unreadable(let why) = capture.state(of: part) { return .unreadable(why) }
    }
    if needs.contains(.depth), DepthChoice(depthRule, parameters, capture) == .none {
      return .notApplicable(
        "no depth on the color grid: the calibration is incomplete: no "
          + capture.missingCalibration.joined(separator: ", no ")
          + "; give \(name).calibration")
    }
    return CalibrationChoice.checked(.applies, parameters, capture)
  }

  static func problems(_ stage: StageDefinition) -> [StageProblem] {
    ExportParameters.problems(stage)
  }

  static func nothingLeft(
    _ stage: StageDefinition, _ capture: CaptureSummary
  ) -> CaptureWarning? { hasFrames ? CommonParameters.nothingLeft(stage, capture) : nil }

  static func fileProblems(_ parameters: ParameterValues) -> [StageProblem] {
    var problems = pathProblems(parameters) + PickParameters.problems(parameters)
    if PickParameters.needsPictures(parameters),
      !ports.contains(where: { [.colorImages, .grayImages].contains($0.accepts) })
    {
      problems.append(
        StageProblem(
          parameter: PickParameters.pick.name, "needs pictures, and this format has none"))
    }
    if problems.isEmpty { problems = ExportParameters.kalibrProblems(parameters) }
    return CalibrationChoice.fileProblems(problems, parameters, for: .color)
  }

  static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] {
    CalibrationChoice.externalFiles(parameters, capture)
      .merging(ExportParameters.kalibrFiles(parameters)) { $1 }
  }

  /// The capture's data as this stage exports them.
  static func source(_ context: StageContext) throws -> ExportSource {
    let source = try ExportSource(context, pictures: pictures(context.parameters), depthRule)
    if !takesDepthOfAnyGrid { try source.checkGrid() }
    if !takesWidePictures, let pictures = source.pictures {
      try PublishedLight.checkEightBits(PublishedLight(pictures.record), of: pictures.stage)
    }
    return source
  }
}

/// Which depth pictures an export writes.
enum DepthChoice: Hashable {
  case none
  /// `depth/`, with the depth camera's own grid and intrinsics.
  case native
  /// `aligned/`, with the grid and intrinsics of color.
  case aligned

  /// The depth that the parameter `depth` asks for.
  enum Wish: String, CaseIterable {
    case auto, none, native, aligned
  }

  /// How a format uses depth.
  enum Rule {
    /// The format does not store depth.
    case never
    /// Depth on the color grid, if the capture has depth.
    case aligned
    /// The parameter `depth` decides; `auto`: native when registered, else aligned.
    case chosen
  }

  /// `none` for a capture without depth, for `depth: none`, and if depth cannot be aligned because
  /// the calibration is incomplete. Unreadable depth is not left out: its stage fails, and the
  /// export with it.
  init(_ rule: Rule, _ parameters: ParameterValues, _ capture: CaptureSummary) {
    if case .absent = capture.state(of: .depth) {
      self = .none
      return
    }
    // Depth cannot be aligned to a mirrored picture.
    if capture.exports.isMirrored {
      self = .none
      return
    }
    // A calibrated file aligns depth itself.
    if parameters[ExportSens.calibrated] {
      self = .native
      return
    }
    let canAlign =
      capture.missingCalibration.isEmpty
      || CalibrationChoice.file(parameters, deviceID: capture.deviceID) != nil
    switch (rule, parameters[ExportParameters.depth]) {
    case (.never, _), (_, Wish.none): self = .none
    case (.aligned, _), (.chosen, .aligned): self = canAlign ? .aligned : .none
    case (.chosen, .native): self = .native
    default:
      // Readers that ignore an extrinsic also miss the turn of the color pictures.
      let isRegistered = capture.exports.isRegistered
      let isTurned = capture.exports.clockwiseQuarterTurns != 0
      self = isRegistered && !(isTurned && canAlign) ? .native : canAlign ? .aligned : .none
    }
  }
}

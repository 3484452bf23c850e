import Captures
import Core
import Engine
import Media
import Processing
import Synchronization
import SystemPackage

/// Chooses the frames of one export before anything is made for it, and writes the color pictures
/// of these alone.
///
/// An inner stage of an export of some frames, in place of the stage that decodes color. The frames
/// are those that the export would choose from all pictures, by the same code. Whether a picture
/// can be decoded is known only after decoding: `pick: sharpest` and `motion` decode all of them, the other
/// choices count such a frame as `no-picture`.
enum ChooseFrames: Stage {
  static let name = "choose-frames"
  static let version = 2
  static let sentence =
    "Chooses the frames of an export and writes the color pictures of these alone."
  static let ports = [
    Port("color", .colorImages, isRequired: false, "all color pictures, where there are some"),
    TimeOffsetChoice.port,
  ]
  static let parameters: [ParameterDescription] = []

  /// The parameter with the export's kind.
  private static let kindName = "export"
  /// Prefix of the names of the export's parameters.
  private static let prefix = "export."
  /// Parameters of exports that do not affect which frames are exported.
  private static let others = Set(
    (ExportParameters.pictures(default: .same)
      + ParameterDescription.list(
        ExportParameters.share, CommonParameters.compression, ExportNerfstudio.up,
        ExportNerfstudio.ngp, ExportParameters.points, ExportColmap.model, ExportColmap.intrinsics,
        CommonCamera.parameter, ExportParameters.imuMargin, ExportParameters.personal,
        ExportMCAP.raw, ExportPLY.color, ExportPLY.pixels, ExportPLY.confidence, ExportPLY.frame,
        ExportPLY.maximumDistance, ExportPLY.minimumConfidence, ExportSens.calibrated))
      .map(\.name))

  /// The parameters of this stage for an export: those of the color stage, which determine the
  /// pictures, and those of the export that determine the frames.
  ///
  /// - Parameter color: the stage that decodes color; `nil` if the export takes no pictures.
  static func values(
    of export: any ExportStage.Type, _ parameters: ParameterValues, color: ParameterValues?
  ) -> ParameterValues {
    // A parameter that was added later and has its default value does not make earlier results stale.
    let inner = export.parameters.filter {
      !others.contains($0.name) && !($0.isSilent && parameters[$0.name] == $0.standard)
    }
    var values = ParameterValues(
      defaultsOf: (color == nil ? [] : DecodeColor.parameters)
        + [ParameterDescription(kindName, .text, default: .text(export.name), "")]
        + inner.map { ParameterDescription(prefix + $0.name, $0.kind, $0.sentence) })
    for description in inner { values[prefix + description.name] = parameters[description.name] }
    if let color {
      for description in DecodeColor.parameters {
        values[description.name] = color[description.name]
      }
    }
    return values
  }

  private static func export(_ values: ParameterValues) -> (any ExportStage.Type)? {
    ExportFormats.kinds.first { values[kindName] == .text($0.name) }
  }

  /// The parameters of the export that matter here.
  private static func inner(
    _ export: any ExportStage.Type, _ values: ParameterValues
  ) -> ParameterValues {
    var inner = ParameterValues(defaultsOf: export.parameters)
    for description in export.parameters where !others.contains(description.name) {
      inner[description.name] = values[prefix + description.name]
    }
    return inner
  }

  private static func takesPictures(_ values: ParameterValues) -> Bool {
    values[DecodeColor.format.name] != nil
  }

  static let content = ArtifactContent.colorImages

  static let reads: Set<CapturePart> = []

  static func alsoReads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> {
    guard let export = export(parameters) else { return [] }
    var parts = export.reads(inner(export, parameters), connected: [])
    parts.remove(.cameraSettings)
    // The depth records determine which frames have depth.
    if export.depthRule != .never || export.needs.contains(.depth) { parts.insert(.depth) }
    if takesPictures(parameters), !ports.contains("color") { parts.insert(.color) }
    return parts
  }

  static func libraries(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: String] {
    takesPictures(parameters) ? DecodeColor.libraries(parameters, capture) : [:]
  }

  static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] {
    let ofExport =
      export(parameters).map { $0.externalFiles(inner($0, parameters), capture) } ?? [:]
    let ofColor = takesPictures(parameters) ? DecodeColor.externalFiles(parameters, capture) : [:]
    return ofExport.merging(ofColor) { first, _ in first }
  }

  static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    export(parameters).map { $0.applicability(inner($0, parameters), capture) } ?? .applies
  }

  static func run(_ context: StageContext) throws -> StageResult {
    guard let export = export(context.parameters) else {
      throw InternalError("'\(context.stage)' chooses frames for no export")
    }
    let made = try context.inputs["color"].map(ExportPictures.init)
    let source = try source(export, context, made)
    let chosen = try export.chooseFrames(source)
    var result = StageResult(frames: 0)
    if let made {
      let folder = ExportFolder(context)
      context.progress.expect(chosen.frames.count)
      try folder.sharePictures(made, chosen.frames.filter(made.has), as: "")
      result.recorded = made.toRecord
    } else if takesPictures(context.parameters), !chosen.frames.isEmpty {
      context.progress.expect(chosen.frames.count)
      result = try DecodeColor.decode(context, FrameSelection(only: Set(chosen.frames)))
    }
    try TableFile.write("chosen.csv", ["frame"], chosen.frames, context.staging) { [$0] }
    result.frames = chosen.frames.count
    result.recorded.merge(chosen.recorded) { first, _ in first }
    return result
  }

  /// The capture's data as the export will have them.
  private static func source(
    _ export: any ExportStage.Type, _ context: StageContext, _ made: ExportPictures?
  ) throws -> ExportSource {
    let values = context.parameters
    let parameters = inner(export, values)
    let capture = context.capture
    let summary = CaptureSummary(capture, readerVersion: 0)
    var own = context
    own.parameters = parameters
    own.inputs = context.inputs.filter { ["color", TimeOffsetChoice.portName].contains($0.key) }
    // Messages name the export.
    let step = "." + PipelineDefinition.framesStep
    if context.stage.hasSuffix(step) { own.stage = String(context.stage.dropLast(step.count)) }
    if export == ExportPLY.self {
      own.parameters = ExportPLY.choosing(parameters)
      if !ExportPLY.wantsWorld(parameters) {
        own.capture.poses = .absent("axes are the camera's")
      }
    }
    let choice =
      export.wantsDepth(parameters)
      ? DepthChoice(export.depthRule, parameters, summary) : DepthChoice.none
    let depth = capture.depth.value.map { $0.firstFrame..<$0.firstFrame + $0.access.recordCount }
    let takesDepth = choice != .none || export.needs.contains(.depth)
    var pictures: FrameOutlook.Pictures?
    if made == nil, takesPictures(values), let color = capture.color.value {
      pictures = FrameOutlook.Pictures(
        counted: FrameOutlook.counted(color, frames: capture.frames.count),
        selection: CommonParameters.selection(values))
    }
    let look: @Sendable (Set<Int>) throws -> [Int: PictureLook] = { try Self.look(at: $0, context) }
    let outlook = FrameOutlook(
      pictures: pictures, depth: takesDepth ? depth : nil, depthChoice: choice,
      shape: pictures == nil ? nil : try DecodeColor.published(context),
      look: made == nil ? look : nil)
    return try ExportSource(
      own, pictures: made == nil ? nil : "color", .never, outlook: outlook)
  }

  /// Decodes the pictures of these frames without writing any.
  private static func look(
    at frames: Set<Int>, _ context: StageContext
  ) throws -> [Int: PictureLook] {
    var quiet = context
    // Damage is reported when pictures are written.
    quiet.warnings = WarningCollector()
    let found = Mutex<[Int: PictureLook]>([:])
    _ = try DecodeColor.decode(quiet, FrameSelection(only: frames)) { frame, rgb, width, height in
      let look = PictureLook(rgb: rgb, width: width, height: height)
      found.withLock { $0[frame] = look }
    }
    return found.withLock { $0 }
  }
}

extension ExportStage {
  /// Whether a selection differs from what the format exports by default.
  static func isSubset(_ parameters: ParameterValues) -> Bool {
    guard hasFrames else { return false }
    let choosing =
      CommonParameters.selection
      + ParameterDescription.list(PickParameters.count, PickParameters.pick)
    return PoseSegments.isChosen(parameters)
      || Self.parameters.contains { parameter in
        parameters[parameter.name] != parameter.standard
          && choosing.contains { $0.name == parameter.name }
      }
  }

  static func frameChooser(
    _ parameters: ParameterValues, color: StageDefinition?
  ) -> (kind: any Stage.Type, parameters: ParameterValues)? {
    if let color, color.kind != DecodeColor.self { return nil }
    // Picking does not depend on the export, which chooses among the picked pictures.
    if let color, PickParameters.picks(color.parameters) { return nil }
    return (
      ChooseFrames.self, ChooseFrames.values(of: self, parameters, color: color?.parameters)
    )
  }

  static func depthOfChosen(_ stage: StageDefinition) -> (any Stage.Type)? {
    // Shifts are an output for people.
    stage.kind == DecompressDepth.self && !stage.parameters[DecompressDepth.shifts]
      ? ChosenDepth.self : nil
  }
}

/// Decodes the depth of the frames that were chosen for an export, in place of the stage that
/// decodes all of it.
enum ChosenDepth: Stage {
  static let name = "chosen-depth"
  static let version = 1
  static let sentence = "Decodes the depth of the frames that an export has chosen."
  static let ports = [
    Port(ExportFrames.port, .colorImages, isRequired: true, "the frames that were chosen")
  ]
  static let parameters = DecompressDepth.parameters

  static let content = ArtifactContent.depthFrames

  static let reads = DecompressDepth.reads

  static func alsoReads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> { DecompressDepth.alsoReads(parameters, connected: ports) }

  static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability { DecompressDepth.applicability(parameters, capture) }

  static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] { DecompressDepth.externalFiles(parameters, capture) }

  static func run(_ context: StageContext) throws -> StageResult {
    guard let input = context.inputs[ExportFrames.port] else { return StageResult(frames: 0) }
    return try DecompressDepth.write(context, only: ExportFrames(input).frames)
  }
}

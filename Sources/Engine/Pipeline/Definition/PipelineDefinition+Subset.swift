import Captures

extension PipelineDefinition {
  /// The inner step of an export that chooses its frames: `export-colmap.frames`.
  public static let framesStep = "frames"

  /// The pipeline with separate inner steps for exports of some frames, so that nothing is made for
  /// other frames.
  ///
  /// This applies to an export with a subset of frames whose inputs no other stage needs and which
  /// do not exist yet. It gets an inner step `EXPORT.frames`, which chooses its frames and makes
  /// their pictures, and an `EXPORT.NAME` for each stage between that step and itself. None of them
  /// is kept. An export that was made this way stays so.
  ///
  /// - Parameters:
  ///   - adapted: the pipeline that `adapted` returned.
  ///   - selection: the selected stages; without limits all are.
  ///   - known: what is known about the artifact of a stage.
  func withSubsets(
    _ selection: Selection, _ known: @escaping (_ stage: String) -> KnownArtifact
  ) -> PipelineDefinition {
    let candidates = stages.filter { $0.partOf == nil && $0.kind.isSubset($0.parameters) }
    guard !candidates.isEmpty else { return self }
    let made = madeForOthers(than: candidates, selection)
    var result = self
    for export in candidates {
      guard let position = result.stages.firstIndex(where: { $0.name == export.name }),
        let steps = SubsetSteps(export, self, known, madeAnyway: made)
      else { continue }
      result.stages[position] = steps.export
      result.stages.insert(contentsOf: steps.steps, at: position)
      // A step shared with other stages is made only for those.
      for index in result.stages.indices
      where result.stages[index].partOf == export.name && !result.stages[index].isOfSubset {
        result.stages[index].partOf = nil
      }
    }
    return result
  }

  /// Stages whose complete artifact this run makes or updates in any case.
  private func madeForOthers(
    than candidates: [StageDefinition], _ selection: Selection
  ) -> Set<String> {
    let all = Set(stages.map(\.name))
    // With a single stage, or everything after one, inputs stay what they are.
    guard !selection.until.isEmpty, selection.only.isEmpty, selection.from.isEmpty else {
      return all
    }
    var asked = selection.until.reduce(into: Set<String>()) { $0.formUnion(withParts($1)) }
    for name in selection.forced { asked.formUnion(withParts(name)) }
    asked.subtract(candidates.flatMap { withParts($0.name) })
    return asked.reduce(into: asked) { $0.formUnion(ancestors(of: $1)) }
  }
}

/// What is known about a stage's artifact before the pipeline is adapted to a capture.
public struct KnownArtifact: Sendable {
  /// Whether the artifact exists.
  var isThere: Bool
  /// The ports in its record; `nil` without a record. The record of an intermediate outlives its
  /// files.
  public var ports: Set<String>?

  public init(isThere: Bool, ports: Set<String>?) {
    self.isThere = isThere
    self.ports = ports
  }

  public static let none = KnownArtifact(isThere: false, ports: nil)
}

/// The inner steps of one export of some frames.
private struct SubsetSteps {
  private(set) var export: StageDefinition
  private(set) var steps: [StageDefinition] = []
  private let pipeline: PipelineDefinition
  private let known: (String) -> KnownArtifact

  /// `nil` if the export is better made from existing artifacts or from those that are made anyway,
  /// or cannot be made otherwise.
  init?(
    _ export: StageDefinition, _ pipeline: PipelineDefinition,
    _ known: @escaping (String) -> KnownArtifact, madeAnyway: Set<String>
  ) {
    self.export = export
    self.pipeline = pipeline
    self.known = known
    guard !export.inputs.isEmpty else { return nil }
    let frames = "\(export.name).\(PipelineDefinition.framesStep)"
    let before = pipeline.ancestors(of: export.name)
    let color = pipeline.stages.first {
      before.contains($0.name) && $0.inputs.isEmpty
        && $0.kind.content($0.parameters) == .colorImages
    }
    let wasSubset = known(frames).ports != nil
    if !wasSubset {
      let areThere = export.inputs.allSatisfy { input in
        pipeline[input.stage].map { $0.keep && known($0.name).isThere } ?? false
      }
      let areMade =
        color.map { madeAnyway.contains($0.name) } ?? before.contains(where: madeAnyway.contains)
      if areThere || areMade { return nil }
    }
    guard let chooser = export.kind.frameChooser(export.parameters, color: color) else {
      return nil
    }
    var first = step(named: frames, chooser.kind, chooser.parameters)
    let offsets = export.inputs.filter { input in
      pipeline[input.stage].map { $0.kind.content($0.parameters) } == .timeOffset
    }
    if let color, known(color.name).isThere,
      known(frames).ports.map({ $0.contains("color") }) ?? true
    {
      first.inputs = [PortBinding(port: "color", stage: color.name, isOptional: false)]
    }
    // Which frames the inertial samples cover depends on it.
    first.inputs += offsets
    steps = [first]
    self.export.inputs = []
    for input in export.inputs {
      guard let stage = replaced(input.stage, frames, color?.name) else { return nil }
      var input = input
      input.stage = stage
      self.export.inputs.append(input)
    }
    self.export.inputs.append(
      PortBinding(port: "chosen", stage: frames, isOptional: false))
  }

  private func step(
    named name: String, _ kind: any Stage.Type, _ parameters: ParameterValues
  ) -> StageDefinition {
    var stage = StageDefinition(
      name: name, kind: kind, parameters: parameters, keep: false, partOf: export.name,
      retries: export.retries, timeoutNanoseconds: export.timeoutNanoseconds,
      stallNanoseconds: export.stallNanoseconds, memoryBytes: export.memoryBytes)
    stage.isOfSubset = true
    return stage
  }

  /// The step that makes for the chosen frames what stage `name` makes for all; `nil` if there is
  /// none.
  private mutating func replaced(_ name: String, _ frames: String, _ color: String?) -> String? {
    if name == color { return frames }
    guard let stage = pipeline[name] else { return nil }
    let own = "\(export.name).\(name)"
    if steps.contains(where: { $0.name == own }) { return own }
    let content = stage.kind.content(stage.parameters)
    switch content {
    case .timeOffset: return name
    case .depthFrames:
      guard stage.inputs.isEmpty, let kind = export.kind.depthOfChosen(stage) else { return nil }
      var copy = step(named: own, kind, stage.parameters)
      copy.inputs = [PortBinding(port: "chosen", stage: frames, isOptional: false)]
      steps.append(copy)
    case .depthImages, .alignedImages, .jpegImages, .grayImages:
      // A complete artifact is as good; an export that was made this way stays so.
      if stage.keep, known(name).isThere, known(own).ports == nil { return name }
      guard !stage.inputs.isEmpty else { return nil }
      var copy = step(named: own, stage.kind, stage.parameters)
      for input in stage.inputs {
        guard let source = replaced(input.stage, frames, color) else { return nil }
        copy.inputs.append(
          PortBinding(port: input.port, stage: source, isOptional: input.isOptional))
      }
      steps.append(copy)
    default: return nil
    }
    return own
  }
}

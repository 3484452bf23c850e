import Captures
import Core

/// A pipeline: stages in an order in which each follows the stages that it needs.
public struct PipelineDefinition: Sendable {
  /// File name or built-in name, for messages.
  public var name: String
  public var stages: [StageDefinition]
  /// How much of its declared length a stream may lack, in percent (0...100), before the capture
  /// needs attention. Does not affect any artifact.
  var shortfallPercent = Shortfall.usualPercent

  public subscript(stage: String) -> StageDefinition? { stages.first { $0.name == stage } }

  /// `stage` and its inner steps (see `partOf`).
  func withParts(_ stage: String) -> Set<String> {
    Set(stages.filter { $0.partOf == stage }.map(\.name)).union([stage])
  }

  /// The warnings of opening that need attention with this pipeline.
  func unsettled(_ warnings: [CaptureWarning]) -> [CaptureWarning] {
    warnings.filter { warning in
      !stages.contains { $0.kind.settles(warning, $0.parameters) }
    }
  }

  /// The port at which `stage` reads an input: its own, or for any artifact one of that content.
  func port(of input: PortBinding, in stage: StageDefinition) -> Port {
    stage.kind.ports.first { $0.name == input.port }
      ?? Port(
        input.port, self[input.stage].map { $0.kind.content($0.parameters) } ?? .files,
        isRequired: !input.isOptional, "")
  }

  /// All stages that `stage` needs, directly or indirectly, including optional inputs.
  func ancestors(of stage: String) -> Set<String> {
    var found: Set<String> = []
    for candidate in stages.reversed()
    where candidate.name == stage || found.contains(candidate.name) {
      found.formUnion(candidate.inputs.map(\.stage))
    }
    return found
  }
}

/// One stage of a pipeline with its parameters and the sources of its inputs.
public struct StageDefinition: Sendable {
  public var name: String
  public var kind: any Stage.Type
  public var parameters: ParameterValues
  public var inputs: [PortBinding] = []
  /// If `false`, the artifact is deleted once all stages that need it are done.
  public var keep: Bool = true
  /// Whether it makes some frames for one export rather than what its kind makes for the whole
  /// capture.
  var isOfSubset = false
  /// The stage of which this is an inner step. Parameters and selection of that stage apply to it
  /// too.
  public var partOf: String?
  var retries: Int = 0
  var timeoutNanoseconds: Int64?
  /// How long it may run without a sign of life; `nil`: the setting of the run.
  var stallNanoseconds: Int64?
  var memoryBytes: Int64?
  /// Number of cores to request from a batch system, 1...1024.
  var cpus: Int?
  /// Expected duration to request from a batch system, in whole seconds, rounded up.
  var timeSeconds: Int?
}

/// Connects a stage's artifact to an input port.
public struct PortBinding: Hashable, Sendable {
  public var port: String
  public var stage: String
  /// Whether the stage also runs without it.
  public var isOptional: Bool

  public init(port: String, stage: String, isOptional: Bool) {
    self.port = port
    self.stage = stage
    self.isOptional = isOptional
  }
}

extension PipelineDefinition {
  /// The pipeline adapted to one capture. Connections that parameters ask for are added
  /// (`Stage.follows`). Removed are: connections that stages do not use for this
  /// capture; all connections of a stage that does not apply; connections through which a table
  /// would name files that are deleted after use; and what is made only for other stages, if none
  /// reads it. Exports of some frames get inner steps of their own (`withSubsets`).
  ///
  /// - Parameters:
  ///   - choice: the selected stages.
  ///   - known: what is known about the artifact of a stage.
  func adapted(
    to capture: CaptureSummary, _ choice: StageChoice,
    known: @escaping (_ stage: String) -> KnownArtifact
  ) -> PipelineDefinition {
    withFollowedConnections().withoutSuperfluousConnections(in: capture).withoutUnread(of: self)
      .withSubsets(choice, known).withoutUnread(of: self)
  }

  /// The pipeline with the connections that its parameters ask for and that it does not name (`Stage.follows`).
  public func withFollowedConnections() -> PipelineDefinition {
    var result = self
    for name in stages.map(\.name) {
      guard let index = result.stages.firstIndex(where: { $0.name == name }) else { continue }
      let stage = result.stages[index]
      guard let binding = stage.kind.follows(stage.parameters),
        !stage.inputs.contains(where: { $0.port == binding.port }),
        let place = result.stages.firstIndex(where: { $0.name == binding.stage }),
        let port = stage.kind.ports.first(where: { $0.name == binding.port })
      else { continue }
      let source = result.stages[place]
      guard source.name != name, source.inputs.isEmpty,
        source.kind.content(source.parameters) == port.accepts
      else { continue }
      result.stages[index].inputs.append(binding)
      // It needs no other stage, so it may go before any.
      if place > index {
        result.stages.remove(at: place)
        result.stages.insert(source, at: index)
      }
    }
    return result
  }

  private func withoutSuperfluousConnections(in capture: CaptureSummary) -> PipelineDefinition {
    var result = self
    for index in result.stages.indices {
      let stage = result.stages[index]
      switch stage.applicability(capture) {
      case .notApplicable, .nothingLeft:
        result.stages[index].inputs.removeAll()
        continue
      case .applies, .unreadable: break
      }
      result.stages[index].inputs.removeAll { input in
        !stage.kind.connects(input.port, stage.parameters, capture)
          || stage.kind.namesFilesOfInputs && self[input.stage]?.keep == false
      }
    }
    return result
  }

  /// The pipeline without copies of color and time offsets that stages of `original` read and that
  /// no stage reads any more.
  private func withoutUnread(of original: PipelineDefinition) -> PipelineDefinition {
    var result = self
    result.stages.removeAll { stage in
      !stage.keep && stage.kind.content(stage.parameters).isForReaders
        && original.readers(of: stage.name) > 0 && readers(of: stage.name) == 0
    }
    return result
  }

  private func readers(of stage: String) -> Int {
    stages.count { reader in reader.inputs.contains { $0.stage == stage } }
  }

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
  ///   - choice: the selected stages.
  ///   - known: what is known about the artifact of a stage.
  func withSubsets(
    _ choice: StageChoice, _ known: @escaping (_ stage: String) -> KnownArtifact
  ) -> PipelineDefinition {
    let candidates = stages.filter { $0.partOf == nil && $0.kind.isSubset($0.parameters) }
    guard !candidates.isEmpty else { return self }
    let made = madeForOthers(than: candidates, choice)
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
    than candidates: [StageDefinition], _ choice: StageChoice
  ) -> Set<String> {
    let own = Set(candidates.flatMap { withParts($0.name) })
    let all = Set(stages.map(\.name))
    return choice.parts.reduce(into: []) { made, part in
      if part.limits.limits == nil { return made.formUnion(part.own ?? all) }
      // With single stages, inputs stay what they are.
      if !part.limits.only.isEmpty { return made.formUnion(all) }
      var asked = part.limits.until.reduce(into: Set<String>()) { $0.formUnion(withParts($1)) }
      for name in part.limits.forced { asked.formUnion(withParts(name)) }
      asked.subtract(own)
      made.formUnion(asked.reduce(into: asked) { $0.formUnion(ancestors(of: $1)) })
    }
  }
}

/// What is known about a stage's artifact before the pipeline is adapted to a capture.
public struct KnownArtifact: Sendable {
  /// Whether the artifact exists.
  var isThere: Bool
  /// The ports in its record; `nil` without a record. The record of an intermediate outlives its
  /// files.
  public var ports: Set<String>?

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

/// The stages of a pipeline that a run selects.
public struct Selection: Hashable, Sendable, Codable {
  /// Only these stages (and their inner steps); empty for all.
  public var only: [String] = []
  /// These stages and everything that they need; empty for all.
  public var until: [String] = []
  /// Stages that run even if they are up to date.
  public var forced: Set<String> = []
  public var forceAll = false

  public init() {}

  /// The names of the selected stages in `pipeline`; several limits are intersected.
  public func stages(of pipeline: PipelineDefinition) -> Set<String> {
    var selected = Set(pipeline.stages.map(\.name))
    if !only.isEmpty {
      selected.formIntersection(
        only.reduce(into: Set<String>()) { $0.formUnion(pipeline.withParts($1)) })
    }
    if !until.isEmpty {
      var reached = until.reduce(into: Set<String>()) { $0.formUnion(pipeline.withParts($1)) }
      for part in reached { reached.formUnion(pipeline.ancestors(of: part)) }
      selected.formIntersection(reached)
    }
    return selected
  }

  /// The selection without forced stages; `nil` if it selects every stage.
  public var limits: Selection? {
    guard !only.isEmpty || !until.isEmpty else { return nil }
    var limits = self
    limits.forced = []
    limits.forceAll = false
    return limits
  }

  /// The limits as words of a command line: `["--only depth,color"]`.
  var limitWords: [String] {
    [("--only", only), ("--until", until)].filter { !$0.1.isEmpty }
      .map { "\($0.0) \($0.1.joined(separator: ","))" }
  }

  /// Why it selects nothing, in terms of the command line; `nil` if it selects something.
  public func problem(in pipeline: PipelineDefinition) -> String? {
    let chosen = stages(of: pipeline)
    let limits = limitWords
    if chosen.isEmpty {
      return "no stage is left by " + limits.joined(separator: " and ") + " together"
    }
    for name in forced.sorted() where pipeline.withParts(name).isDisjoint(with: chosen) {
      return "-R \(name) is outside of what " + limits.joined(separator: " and ") + " selects"
    }
    return nil
  }

  /// Whether `stage` runs regardless of its fingerprint.
  func isForced(_ stage: StageDefinition) -> Bool {
    forceAll || forced.contains(stage.name) || stage.partOf.map(forced.contains) == true
  }
}

/// Explains unknown names of stages and kinds. `aligned` is a stage, a step of one pipeline;
/// `align-depth` is its kind, named by `uses:`. A name of the wrong sort is distinguished from a
/// misspelled one.
public enum StageWords {
  /// The text after "no stage 'WORD'", with leading punctuation: what the word is, else the closest
  /// stage, else the list of stages.
  ///
  /// - Parameters:
  ///   - stages: name and kind of each, in the order of the pipeline.
  ///   - shown: those that are listed; `nil`: all.
  public static func hint(
    _ word: String, _ stages: [(name: String, kind: String)], shown: [String]? = nil
  ) -> String {
    // A format without what its stages begin with.
    let export = "export-" + word
    if stages.contains(where: { $0.name == export }) { return ", did you mean '\(export)'?" }
    let ofKind = stages.filter { $0.kind == word }.map(\.name)
    switch ofKind.count {
    case 0: break
    case 1: return ": \(word) is a kind; the stage is called \(ofKind[0])"
    default: return ": \(word) is a kind; its stages are called \(list(ofKind))"
    }
    let suggestion = NearestName.suggestion(word, among: stages.map(\.name))
    if !suggestion.isEmpty || stages.isEmpty { return suggestion }
    return "; stages: " + (shown ?? stages.map(\.name)).joined(separator: ", ")
  }

  /// The kinds of stages with a name, each once, in the order of the list.
  public static func kinds(
    ofStage name: String, _ stages: [(name: String, kind: String)]
  ) -> [String] {
    stages.filter { $0.name == name }.reduce(into: []) { kinds, stage in
      if !kinds.contains(stage.kind) { kinds.append(stage.kind) }
    }
  }

  /// `a`, `a and b`, `a, b and c`.
  public static func list(_ names: [String]) -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " and " + last
  }

  /// What an unknown parameter is answered with: `"; it has: every, first"`, each name once in the order given, or
  /// `"; it has none"`.
  static func parameters(_ known: [String]) -> String {
    known.isEmpty ? "; it has none" : "; it has: \(known.uniqued.joined(separator: ", "))"
  }
}

extension PipelineDefinition {
  /// The combined request of the stages named in `selected`: the largest `cpus`, and the sum of
  /// `time`, which is `nil` unless each of them states one. Unknown names are ignored.
  public func resources(of selected: Set<String>) -> (cpus: Int?, timeSeconds: Int?) {
    let chosen = stages.filter { selected.contains($0.name) }
    let times = chosen.compactMap(\.timeSeconds)
    let isComplete = !chosen.isEmpty && times.count == chosen.count
    let seconds = times.reduce(0) { sum, next in
      let (more, overflow) = sum.addingReportingOverflow(next)
      return overflow ? Int.max : more
    }
    return (chosen.compactMap(\.cpus).max(), isComplete ? seconds : nil)
  }
}

import Captures

/// A pipeline: stages in an order in which each follows the stages that it needs.
public struct PipelineDefinition: Sendable {
  /// File name or built-in name, for messages.
  public var name: String
  public var stages: [StageDefinition]
  /// How much of its declared length a stream may lack, in percent (0...100), before the capture
  /// needs attention. Does not affect any artifact.
  var shortfallPercent = Shortfall.usualPercent

  public init(name: String, stages: [StageDefinition]) {
    self.name = name
    self.stages = stages
  }

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

  /// All stages that need `stage`, directly or indirectly.
  func dependents(of stage: String) -> Set<String> {
    var found: Set<String> = []
    for candidate in stages
    where candidate.inputs.contains(where: { $0.stage == stage || found.contains($0.stage) }) {
      found.insert(candidate.name)
    }
    return found
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

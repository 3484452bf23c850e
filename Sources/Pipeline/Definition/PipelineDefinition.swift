import Captures

/// A pipeline: stages in an order in which every one follows what it needs.
public struct PipelineDefinition: Sendable {
  /// File name or built-in name, for messages.
  public var name: String
  public var stages: [StageDefinition]
  /// How much a stream may have lost of what the capture declares before somebody has to look, 0...100.
  /// Nothing that is made depends on it.
  public var shortfallPercent = Shortfall.usualPercent

  public init(name: String, stages: [StageDefinition]) {
    self.name = name
    self.stages = stages
  }

  public subscript(stage: String) -> StageDefinition? { stages.first { $0.name == stage } }

  /// The steps that belong to `stage` (see `partOf`), and itself.
  public func withParts(_ stage: String) -> Set<String> {
    Set(stages.filter { $0.partOf == stage }.map(\.name)).union([stage])
  }

  /// Everything that needs `stage`, directly or through others.
  public func dependents(of stage: String) -> Set<String> {
    var found: Set<String> = []
    for candidate in stages
    where candidate.inputs.contains(where: { $0.stage == stage || found.contains($0.stage) }) {
      found.insert(candidate.name)
    }
    return found
  }

  /// Everything that `stage` needs, directly or through others, optional inputs included.
  public func ancestors(of stage: String) -> Set<String> {
    var found: Set<String> = []
    for candidate in stages.reversed()
    where candidate.name == stage || found.contains(candidate.name) {
      found.formUnion(candidate.inputs.map(\.stage))
    }
    return found
  }
}

/// One stage of a pipeline with its parameters and where its inputs come from.
public struct StageDefinition: Sendable {
  public var name: String
  public var kind: any Stage.Type
  public var parameters: ParameterValues
  public var inputs: [PortBinding]
  /// `false`: the artifact is removed once everything that needs it is done.
  public var keep: Bool
  /// It makes some frames for one export, not what its kind would make of the whole capture.
  public var isOfSubset = false
  /// The stage whose inner step this is: that stage's parameters and selection speak for it too.
  public var partOf: String?
  public var retries: Int
  public var timeoutNanoseconds: Int64?
  /// How long it may show no sign of life; `nil`: what the run says.
  public var stallNanoseconds: Int64?
  public var memoryBytes: Int64?
  /// Cores that a machine is asked for on which it runs, 1...1024; asked of batch systems only.
  public var cpus: Int?
  /// How long it may be expected to take, in whole seconds, rounded up; asked of batch systems only.
  public var timeSeconds: Int?

  public init(
    name: String, kind: any Stage.Type, parameters: ParameterValues, inputs: [PortBinding] = [],
    keep: Bool = true, partOf: String? = nil, retries: Int = 0, timeoutNanoseconds: Int64? = nil,
    stallNanoseconds: Int64? = nil,
    memoryBytes: Int64? = nil, cpus: Int? = nil, timeSeconds: Int? = nil
  ) {
    self.name = name
    self.kind = kind
    self.parameters = parameters
    self.inputs = inputs
    self.keep = keep
    self.partOf = partOf
    self.retries = retries
    self.timeoutNanoseconds = timeoutNanoseconds
    self.stallNanoseconds = stallNanoseconds
    self.memoryBytes = memoryBytes
    self.cpus = cpus
    self.timeSeconds = timeSeconds
  }
}

/// Which stage feeds which port.
public struct PortBinding: Hashable, Sendable {
  public var port: String
  public var stage: String
  /// Without it the stage runs all the same.
  public var isOptional: Bool

  public init(port: String, stage: String, isOptional: Bool) {
    self.port = port
    self.stage = stage
    self.isOptional = isOptional
  }
}

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

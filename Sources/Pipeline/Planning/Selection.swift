/// Which stages of a pipeline a run is about.
public struct Selection: Hashable, Sendable, Codable {
  /// Exactly this stage (and its inner steps).
  public var only: String?
  /// This stage and everything that needs it.
  public var from: String?
  /// This stage and everything it needs.
  public var until: String?
  /// These run even when they are up to date.
  public var forced: Set<String> = []
  public var forceAll = false

  public init() {}

  /// The names selected in `pipeline`; several limits together narrow each other down.
  public func stages(of pipeline: PipelineDefinition) -> Set<String> {
    var selected = Set(pipeline.stages.map(\.name))
    if let only { selected.formIntersection(pipeline.withParts(only)) }
    if let from {
      var reached = pipeline.withParts(from)
      for part in reached { reached.formUnion(pipeline.dependents(of: part)) }
      selected.formIntersection(reached)
    }
    if let until {
      var reached = pipeline.withParts(until)
      for part in reached { reached.formUnion(pipeline.ancestors(of: part)) }
      selected.formIntersection(reached)
    }
    return selected
  }

  /// Whether `stage` runs whatever its fingerprint says.
  public func isForced(_ stage: StageDefinition) -> Bool {
    forceAll || forced.contains(stage.name) || stage.partOf.map(forced.contains) == true
  }
}

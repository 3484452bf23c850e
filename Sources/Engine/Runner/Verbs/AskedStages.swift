/// Which stages of a capture were asked for: the one place that decides it for status, report, pages, metrics
/// and the watcher.
///
/// Asked for are the stages that the capture's last run was about, with the settings of that run, and every stage
/// of which a result is published, with the settings of the run that asked for it last: an export of last week
/// is asked for until `clean` removes it. A stage that was not asked for has the state `not-requested`; it
/// counts nowhere and makes nothing queued.
public struct AskedStages: Hashable, Sendable {
  private let names: Set<String>

  /// - Parameters:
  ///   - pipeline: adapted to the capture.
  ///   - limits: what the last run was limited to; without limits it was about every stage of its pipeline.
  ///   - added: stages of `pipeline` that are of earlier runs' pipelines only.
  ///   - published: stages with a record, also those of which the files were removed after use.
  init(
    of pipeline: PipelineDefinition, limits: Selection = Selection(), added: Set<String> = [],
    published: Set<String> = []
  ) {
    let steps = pipeline.stages.filter { $0.partOf.map(added.contains) == true }.map(\.name)
    names = limits.stages(of: pipeline).subtracting(added).subtracting(steps).union(published)
  }

  public func contains(_ stage: String) -> Bool { names.contains(stage) }

  /// Plans what was asked for and nothing else: what lies before it and was not asked for is used as it is.
  func planner(_ pipeline: PipelineDefinition) -> Planner {
    Planner(pipeline, stages: names)
  }
}

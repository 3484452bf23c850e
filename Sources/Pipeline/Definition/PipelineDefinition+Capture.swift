import Captures

extension PipelineDefinition {
  /// The pipeline without the connections that stages have no use for in this capture, all of those of a
  /// stage that does not apply to it, those through which files would be named that are removed after use, and without pictures that are made for others only and that nobody
  /// reads then; with steps of their own for exports of some frames (`withSubsets`).
  ///
  /// - Parameters:
  ///   - selection: what a run is about; without limits every stage is asked for.
  ///   - known: what is known of the artifact of a stage.
  public func suited(
    to capture: CaptureSummary, _ selection: Selection,
    known: @escaping (_ stage: String) -> KnownArtifact
  ) -> PipelineDefinition {
    withoutSuperfluousConnections(in: capture).withoutUnreadCopies(of: self)
      .withSubsets(selection, known).withoutUnreadCopies(of: self)
  }

  private func withoutSuperfluousConnections(in capture: CaptureSummary) -> PipelineDefinition {
    var result = self
    for index in result.stages.indices {
      let stage = result.stages[index]
      if case .notApplicable = stage.kind.applicability(stage.parameters, capture) {
        result.stages[index].inputs.removeAll()
        continue
      }
      result.stages[index].inputs.removeAll { input in
        !stage.kind.connects(input.port, stage.parameters, capture)
          || stage.kind.namesFilesOfInputs && self[input.stage]?.keep == false
      }
    }
    return result
  }

  /// Without copies of color that stages of `original` read and that nobody reads any more.
  private func withoutUnreadCopies(of original: PipelineDefinition) -> PipelineDefinition {
    var result = self
    result.stages.removeAll { stage in
      !stage.keep && stage.kind.content(stage.parameters).isCopyOfColor
        && original.readers(of: stage.name) > 0 && readers(of: stage.name) == 0
    }
    return result
  }

  private func readers(of stage: String) -> Int {
    stages.count { reader in reader.inputs.contains { $0.stage == stage } }
  }
}

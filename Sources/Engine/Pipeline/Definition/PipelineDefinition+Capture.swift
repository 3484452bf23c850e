import Captures

extension PipelineDefinition {
  /// The pipeline adapted to one capture. Connections that parameters ask for are added
  /// (`Stage.follows`). Removed are: connections that stages do not use for this
  /// capture; all connections of a stage that does not apply; connections through which a table
  /// would name files that are deleted after use; and what is made only for other stages, if none
  /// reads it. Exports of some frames get inner steps of their own (`withSubsets`).
  ///
  /// - Parameters:
  ///   - selection: the selected stages; without limits all are.
  ///   - known: what is known about the artifact of a stage.
  func adapted(
    to capture: CaptureSummary, _ selection: Selection,
    known: @escaping (_ stage: String) -> KnownArtifact
  ) -> PipelineDefinition {
    withFollowedConnections().withoutSuperfluousConnections(in: capture).withoutUnread(of: self)
      .withSubsets(selection, known).withoutUnread(of: self)
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
}

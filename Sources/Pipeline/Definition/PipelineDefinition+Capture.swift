import Captures

extension PipelineDefinition {
  /// The pipeline without the connections that stages have no use for in this capture, all of those of a
  /// stage that does not apply to it, and without pictures that are made for others only and that nobody
  /// reads then.
  public func suited(to capture: CaptureSummary) -> PipelineDefinition {
    var result = self
    for index in result.stages.indices {
      let stage = result.stages[index]
      if case .notApplicable = stage.kind.applicability(stage.parameters, capture) {
        result.stages[index].inputs.removeAll()
        continue
      }
      result.stages[index].inputs.removeAll {
        !stage.kind.connects($0.port, stage.parameters, capture)
      }
    }
    let unread = result.stages.filter { stage in
      !stage.keep && stage.kind.content(stage.parameters).isCopyOfColor
        && readers(of: stage.name) > 0 && result.readers(of: stage.name) == 0
    }
    result.stages.removeAll { stage in unread.contains { $0.name == stage.name } }
    return result
  }

  private func readers(of stage: String) -> Int {
    stages.count { reader in reader.inputs.contains { $0.stage == stage } }
  }
}

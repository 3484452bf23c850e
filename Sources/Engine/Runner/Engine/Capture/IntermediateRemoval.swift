/// Which intermediates (`keep: false`) are no longer needed. Pure.
///
/// They go as soon as everything that reads them is done; failed readers keep them for the next attempt,
/// and so do readers that are no part of this run, unless the intermediate had been removed before it or is
/// nothing but a copy of color.
struct IntermediateRemoval {
  let pipeline: PipelineDefinition
  /// Intermediates that were removed before this run.
  let removedBefore: Set<String>

  /// - Parameters:
  ///   - states: those of the scheduler, by stage; stages that are no part of the run have none.
  ///   - isLast: whether the run is over: until then a dormant reader may still be demanded.
  func removable(_ states: [String: Scheduler.State], isLast: Bool) -> [String] {
    pipeline.stages.filter { !$0.keep }.map(\.name).filter { name in
      switch states[name] {
      case .waiting, .running: return false
      case .dormant, .ended, nil: break
      }
      let readers = pipeline.stages.filter { reader in
        reader.inputs.contains { $0.stage == name }
      }
      return !readers.isEmpty
        && readers.allSatisfy { isDone(states[$0.name], of: name, isLast: isLast) }
    }
  }

  private func isDone(_ reader: Scheduler.State?, of name: String, isLast: Bool) -> Bool {
    switch reader {
    case .ended(let outcome): outcome.isUsable || outcome == .notApplicable
    case .dormant: isLast
    case .waiting, .running: false
    case nil:
      removedBefore.contains(name)
        || pipeline[name].map { $0.kind.content($0.parameters).isCopyOfColor } ?? false
    }
  }
}

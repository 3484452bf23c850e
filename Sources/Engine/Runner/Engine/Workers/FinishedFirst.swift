import Core

/// The order in which captures are taken up.
enum FinishedFirst {
  /// Captures that earlier runs have brought furthest come first, so that a night that ends early
  /// leaves as many complete ones as it can; among equals, the order given. Indices; and whether some capture has no
  /// result at all, so that a worker will be needed. A capture may lack a stage that does not apply to it, or an
  /// intermediate, and need none.
  static func order(
    _ targets: [CaptureTarget], _ pipeline: PipelineDefinition
  ) -> (indices: [Int], isWorkLikely: Bool) {
    let done = targets.map { target in
      let folder = HeldFolder(target.layout.folder, followsLast: false)
      return pipeline.stages.count {
        folder?.status(of: "\($0.name)/\(OutputNames.record)") != nil
      }
    }
    return (
      targets.indices.sorted { (-done[$0], $0) < (-done[$1], $1) },
      done.contains(0)
    )
  }
}

import Captures
import Engine
import Core

/// Costs of captures that were processed into the same output before, as samples for estimates.
struct PastCosts {
  let pipeline: PipelineDefinition
  let cores: Int

  /// Roughly this many captures are sampled: enough for a median.
  static let most = 60

  /// A sample per capture. Stages run in parallel on the cores of an array task, so a capture takes
  /// at least as long as its longest stage and as its processor time divided by `cores`; the sample
  /// is the larger. Cost: reads the records of fewer than `2 * most` captures.
  func samples(_ targets: [CaptureTarget], bytes: (CaptureTarget) -> Int64) -> [CostSample] {
    let step = max(1, targets.count / Self.most)
    return stride(from: 0, to: targets.count, by: step).compactMap { index in
      let target = targets[index]
      let store = ArtifactStore(target.layout)
      let records = pipeline.stages.compactMap { store.record($0.name) }
      let longest = records.map(\.seconds).max() ?? 0
      let shared = records.reduce(0) { $0 + $1.cpuSeconds } / Double(max(1, cores))
      let size = bytes(target)
      guard max(longest, shared) > 0, size > 0 else { return nil }
      return CostSample(
        family: target.recognition.family.rawValue, inputBytes: size, seconds: max(longest, shared))
    }
  }
}

import Captures
import Output
import Pipeline
import Runner
import Storage

/// What captures took that were processed into the same output before: samples for the cost of others.
struct PastCosts {
  let pipeline: PipelineDefinition
  let cores: Int

  /// So many captures are enough for a median.
  static let most = 60

  /// Of each capture the seconds that its published stages took: they run beside each other on the cores
  /// of an element, so that the longest, or the processor time shared out, is the least. Reads the records
  /// of at most `most` captures.
  func samples(_ targets: [CaptureTarget], bytes: (CaptureTarget) -> Int64) -> [CostSample] {
    let step = max(1, targets.count / Self.most)
    return stride(from: 0, to: targets.count, by: step).compactMap { index in
      let target = targets[index]
      let shelf = ArtifactStore(target.layout)
      let records = pipeline.stages.compactMap { shelf.record($0.name) }
      let longest = records.map(\.seconds).max() ?? 0
      let shared = records.reduce(0) { $0 + $1.cpuSeconds } / Double(max(1, cores))
      let size = bytes(target)
      guard max(longest, shared) > 0, size > 0 else { return nil }
      return CostSample(
        family: target.recognition.family.rawValue, inputBytes: size, seconds: max(longest, shared))
    }
  }
}

import Captures
import Core
import Engine
import SystemPackage

/// The captures of a future array task with their estimated cost.
struct ArrayTaskGroup {
  var captures: [ArrayTaskCapture]
  var plan: ArrayTaskPlan
}

extension ArrayTaskGroup {
  /// Captures to be retried together. The request has their largest memory and the sum of their
  /// times.
  init(again captures: [ArrayTaskCapture], _ limits: ClusterLimits) {
    self.captures = captures
    let one = JobRequest(
      cores: limits.cores,
      memoryBytes: captures.map(\.history.memoryBytes).max() ?? limits.memoryBytes,
      timeSeconds: captures.map(\.history.timeSeconds).max() ?? limits.timeSeconds)
    var all = one
    let seconds = captures.reduce(0) { sum, capture in
      let (more, overflow) = sum.addingReportingOverflow(capture.history.timeSeconds)
      return overflow ? .max : more
    }
    all.timeSeconds = min(limits.maxTimeSeconds, max(60, seconds))
    plan = ArrayTaskPlan(captures: [], costSeconds: 0, request: all, captureRequest: one)
  }
}

/// Creates array tasks from captures: estimates their costs and groups them.
struct ArrayTaskMaker {
  let batch: BatchRun
  let limits: ClusterLimits
  let site: Site

  /// The groups in the order of their numbers, and the basis of the last capture's cost estimate.
  ///
  /// - Parameter past: captures that were processed before, as samples of cost.
  func groups(
    _ targets: [CaptureTarget], past: [CaptureTarget]
  ) -> (groups: [ArrayTaskGroup], basis: CostModel.Basis) {
    guard !targets.isEmpty else { return ([], .guess) }
    var sizes = CaptureSizes()
    let costs = PastCosts(pipeline: batch.pipeline, cores: limits.cores)
    let model = CostModel(costs.samples(past) { sizes.bytes(of: $0.recognition) })
    let history = CaptureHistory(memoryBytes: limits.memoryBytes, timeSeconds: limits.timeSeconds)
    let request = JobRequest(
      cores: limits.cores, memoryBytes: limits.memoryBytes, timeSeconds: limits.timeSeconds)
    var basis = CostModel.Basis.guess
    let captures = targets.enumerated().map { index, target in
      let expected = model.expectation(
        family: target.recognition.family.rawValue,
        inputBytes: sizes.bytes(of: target.recognition))
      basis = expected.basis
      return GroupedCapture(index: index, costSeconds: expected.seconds, request: request)
    }
    let plans = Grouping.elements(
      captures,
      GroupingLimits(
        group: limits.group, maxTimeSeconds: limits.maxTimeSeconds,
        maxArraySize: site.maxArraySize, maxQueued: limits.maxQueued))
    let groups = plans.map { plan in
      ArrayTaskGroup(
        captures: plan.captures.map { ArrayTaskCapture(target: targets[$0], history: history) },
        plan: plan)
    }
    return (groups, basis)
  }
}

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

/// The measured cost of one capture.
struct CostSample: Hashable, Sendable {
  var family: String
  /// Size of all files of the capture.
  var inputBytes: Int64
  /// Duration of all stages together.
  var seconds: Double
}

/// Estimates how long captures take from the durations of earlier ones. Errors of a factor of two
/// are acceptable, because the estimate only decides how captures are grouped.
struct CostModel: Sendable {
  /// The data of an estimate.
  enum Basis: Hashable, Sendable {
    /// This many earlier captures of the same family.
    case family(Int)
    /// This many earlier captures of all families.
    case all(Int)
    /// No data.
    case guess
  }

  struct Expectation: Hashable, Sendable {
    var seconds: Double
    var basis: Basis
  }

  /// The number of earlier captures below which no estimate is made.
  static let leastSamples = 20
  /// The default cost: rounded from the time that an indoor scan of a few hundred frames takes
  /// on four cores.
  static let guessedSeconds = 60.0
  /// The least cost: starting a worker takes time, however small the capture.
  static let leastSeconds = 1.0

  private let families: [String: Rate]
  private let all: Rate?

  private struct Rate {
    var secondsPerByte: Double
    var count: Int
  }

  /// Samples without bytes, and those whose seconds are not positive and finite, are ignored. Cost:
  /// O(n log n).
  init(_ samples: [CostSample]) {
    let usable = samples.filter { $0.inputBytes > 0 && $0.seconds > 0 && $0.seconds.isFinite }
    families = Dictionary(grouping: usable, by: \.family).compactMapValues(Self.rate)
    all = Self.rate(usable)
  }

  /// The median rate; `nil` for fewer than `leastSamples`.
  private static func rate(_ samples: [CostSample]) -> Rate? {
    guard samples.count >= leastSamples else { return nil }
    let median = Median.of(samples.map { $0.seconds / Double($0.inputBytes) })
    return Rate(secondsPerByte: median, count: samples.count)
  }

  /// The estimate for a capture; `family` is `nil` if unknown.
  func expectation(family: String?, inputBytes: Int64) -> Expectation {
    func seconds(_ rate: Rate) -> Double {
      max(Self.leastSeconds, rate.secondsPerByte * Double(max(0, inputBytes)))
    }
    if let rate = family.flatMap({ families[$0] }) {
      return Expectation(seconds: seconds(rate), basis: .family(rate.count))
    }
    if let all { return Expectation(seconds: seconds(all), basis: .all(all.count)) }
    return Expectation(seconds: Self.guessedSeconds, basis: .guess)
  }
}

extension CostModel.Basis: CustomStringConvertible {
  var description: String {
    switch self {
    case .family(let count): "by \(count) earlier captures of the same app, within ±50 %"
    case .all(let count): "by \(count) earlier captures of other apps, within ±50 %"
    case .guess: "a guess, for want of \(CostModel.leastSamples) earlier captures"
    }
  }
}

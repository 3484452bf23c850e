import Captures
import Core
import Engine
import SystemPackage

/// A future array task: its captures, and what it requests.
struct ArrayTaskGroup {
  /// In processing order.
  var captures: [ArrayTaskCapture]
  /// Estimated seconds of work; 0 if unknown.
  var costSeconds: Double
  /// Its time is the sum over the captures, at most `maxTimeSeconds`.
  var request: JobRequest
  /// The request of each single capture. Only tasks with equal values share an array.
  var captureRequest: JobRequest
}

extension ArrayTaskGroup {
  /// The request has the largest memory of the captures and the sum of their times.
  ///
  /// - Parameter leastSeconds: the least time that it requests.
  init(
    _ captures: [ArrayTaskCapture], costSeconds: Double = 0, leastSeconds: Int = 60,
    _ limits: ClusterLimits
  ) {
    self.captures = captures
    self.costSeconds = costSeconds
    captureRequest = JobRequest(
      cores: limits.cores,
      memoryBytes: captures.map(\.history.memoryBytes).max() ?? limits.memoryBytes,
      timeSeconds: captures.map(\.history.timeSeconds).max() ?? limits.timeSeconds)
    request = captureRequest
    let seconds = captures.reduce(0) { sum, capture in
      let (more, overflow) = sum.addingReportingOverflow(capture.history.timeSeconds)
      return overflow ? .max : more
    }
    request.timeSeconds = min(limits.maxTimeSeconds, max(leastSeconds, seconds))
  }
}

/// Creates array tasks from captures: estimates their costs and groups them.
struct ArrayTaskMaker {
  let batch: BatchRun
  let limits: ClusterLimits
  let site: Site

  /// Roughly this many earlier captures are sampled: enough for a median.
  private static let mostSamples = 60

  /// The groups in the order of their numbers, and the basis of the last capture's cost estimate.
  ///
  /// - Parameter past: captures that were processed before, as samples of cost.
  func groups(
    _ targets: [CaptureTarget], past: [CaptureTarget]
  ) -> (groups: [ArrayTaskGroup], basis: CostModel.Basis) {
    guard !targets.isEmpty else { return ([], .guess) }
    var sizes = CaptureSizes()
    let model = CostModel(samples(past, &sizes))
    let history = CaptureHistory(memoryBytes: limits.memoryBytes, timeSeconds: limits.timeSeconds)
    var basis = CostModel.Basis.guess
    var costs: [Double] = []
    for target in targets {
      let expected = model.expectation(
        family: target.recognition.family.rawValue,
        inputBytes: sizes.bytes(of: target.recognition))
      basis = expected.basis
      costs.append(expected.seconds)
    }
    let elements = Grouping.elements(
      costs, limits.group, mostEach: limits.maxTimeSeconds / max(1, limits.timeSeconds),
      mostElements: min(site.maxArraySize, limits.maxQueued))
    let groups = elements.map { indices in
      ArrayTaskGroup(
        indices.map { ArrayTaskCapture(target: targets[$0], history: history) },
        costSeconds: indices.reduce(0) { $0 + costs[$1] }, leastSeconds: 1, limits)
    }
    return (groups, basis)
  }

  /// A sample per capture that was processed into the same output before. Stages run in parallel on
  /// the cores of an array task, so a capture takes at least as long as its longest stage and as its
  /// processor time divided by the cores; the sample is the larger. Cost: reads the records of fewer
  /// than `2 * mostSamples` captures.
  private func samples(_ targets: [CaptureTarget], _ sizes: inout CaptureSizes) -> [CostSample] {
    let step = max(1, targets.count / Self.mostSamples)
    return stride(from: 0, to: targets.count, by: step).compactMap { index in
      let target = targets[index]
      let store = ArtifactStore(target.layout)
      let records = batch.pipeline.stages.compactMap { store.record($0.name) }
      let longest = records.map(\.seconds).max() ?? 0
      let shared = records.reduce(0) { $0 + $1.cpuSeconds } / Double(max(1, limits.cores))
      let size = sizes.bytes(of: target.recognition)
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

  /// The number of earlier captures below which no estimate is made.
  static let leastSamples = 20
  /// The default cost: rounded from the time that an indoor scan of a few hundred frames takes
  /// on four cores.
  static let guessedSeconds = 60.0
  /// The least cost: starting a worker takes time, however small the capture.
  static let leastSeconds = 1.0

  /// Median seconds per byte, and of how many captures.
  private typealias Rate = (secondsPerByte: Double, count: Int)

  private let families: [String: Rate]
  private let all: Rate?

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
    return (median, samples.count)
  }

  /// The estimate for a capture.
  func expectation(family: String, inputBytes: Int64) -> (seconds: Double, basis: Basis) {
    guard let rate = families[family] ?? all else { return (Self.guessedSeconds, .guess) }
    let seconds = max(Self.leastSeconds, rate.secondsPerByte * Double(max(0, inputBytes)))
    return (seconds, families[family] == nil ? .all(rate.count) : .family(rate.count))
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

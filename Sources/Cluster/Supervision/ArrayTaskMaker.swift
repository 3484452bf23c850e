import Captures
import Engine
import Core
import SystemPackage

/// The captures of a future array task with their estimated cost.
struct ArrayTaskGroup {
  var captures: [ArrayTaskCapture]
  var plan: ArrayTaskPlan

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

  init(_ captures: [ArrayTaskCapture], _ plan: ArrayTaskPlan) {
    self.captures = captures
    self.plan = plan
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
        plan.captures.map { ArrayTaskCapture(target: targets[$0], history: history) }, plan)
    }
    return (groups, basis)
  }
}

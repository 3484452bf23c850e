/// A capture to be grouped.
public struct GroupedCapture: Hashable, Sendable {
  /// The caller's unique number. Of captures with equal cost the lower index comes first.
  public var index: Int
  /// Expected seconds.
  var costSeconds: Double
  /// The request for this capture alone.
  var request: JobRequest
  /// Whether it must have an array task of its own, as for retries.
  var isAlone: Bool = false
}

/// The captures of one array task.
public struct ArrayTaskPlan: Hashable, Sendable {
  /// Values of `GroupedCapture.index`, the most expensive capture first.
  public var captures: [Int]
  var costSeconds: Double
  /// Its time is the sum over the captures, at most `maxTimeSeconds`.
  var request: JobRequest
  /// The request of each single capture. Only tasks with equal values share an array.
  var captureRequest: JobRequest
}

/// Limits for the size and the number of array tasks.
public struct GroupingLimits: Hashable, Sendable {
  var group: GroupLimit
  /// The longest time that a task requests, even if a single capture needs more.
  var maxTimeSeconds: Int
  /// The wanted maximum number of tasks. Groups grow until it is met, as far as the time limit
  /// allows.
  var mostElements: Int

  /// - Parameters:
  ///   - maxArraySize: the site's limit.
  ///   - maxQueued: the profile's limit.
  init(group: GroupLimit, maxTimeSeconds: Int, maxArraySize: Int, maxQueued: Int) {
    self.group = group
    self.maxTimeSeconds = max(1, maxTimeSeconds)
    mostElements = max(1, min(maxArraySize, maxQueued))
  }
}

/// Groups captures into array tasks.
public enum Grouping {
  /// Groups captures with equal requests: in order of descending cost, each goes into the first
  /// task that has capacity left.
  ///
  /// Every capture is in exactly one task. Tasks with equal requests are consecutive, those with
  /// the most expensive capture first. There may be more than `mostElements` tasks, because
  /// captures that must be alone, differ in their requests or exceed a task's time limit are never
  /// combined. Cost: O(n log n), up to 25 times that if groups must grow.
  public static func elements(
    _ captures: [GroupedCapture], _ limits: GroupingLimits
  ) -> [ArrayTaskPlan] {
    let batches = batches(of: captures, maxTimeSeconds: limits.maxTimeSeconds)
    let wanted = Capacity(limits.group)
    let packed = batches.map { Packing($0, wanted) }
    guard count(packed) > limits.mostElements else { return plans(packed, batches, limits) }
    return plans(coarser(batches, wanted, limits.mostElements), batches, limits)
  }

  /// The finest packing with at most `most` tasks; if there is none, the coarsest.
  private static func coarser(_ batches: [Batch], _ wanted: Capacity, _ most: Int) -> [Packing] {
    var coarse = batches.map { Packing($0, .unlimited) }
    guard count(coarse) <= most else { return coarse }
    // Bisects the factor of the wanted capacity: `fine` gives too many tasks, `enough` does not.
    var (fine, enough) = (1.0, Double.infinity)
    for _ in 0..<24 {
      let factor = enough.isFinite ? (fine + enough) / 2 : fine * 4
      let packed = batches.map { Packing($0, wanted.times(factor)) }
      if count(packed) <= most {
        (enough, coarse) = (factor, packed)
      } else {
        fine = factor
      }
      // The cost estimates are less exact than this.
      if enough / fine < 1.02 { break }
    }
    return coarse
  }

  private static func count(_ packed: [Packing]) -> Int {
    packed.reduce(0) { $0 + $1.members.count }
  }

  private static func batches(of captures: [GroupedCapture], maxTimeSeconds: Int) -> [Batch] {
    Dictionary(grouping: captures, by: \.request).map { request, captures in
      Batch(request, captures, maxTimeSeconds: maxTimeSeconds)
    }
    .sorted { $0.isBefore($1) }
  }

  private static func plans(
    _ packed: [Packing], _ batches: [Batch], _ limits: GroupingLimits
  ) -> [ArrayTaskPlan] {
    zip(packed, batches).flatMap { packing, batch in
      packing.members.map { members -> ArrayTaskPlan in
        let captures = members.map { batch.captures[$0] }
        var request = batch.request
        // The sum is capped at the longest time, also when it overflows.
        let (sum, isTooLong) = max(1, request.timeSeconds)
          .multipliedReportingOverflow(by: captures.count)
        request.timeSeconds = isTooLong ? limits.maxTimeSeconds : min(sum, limits.maxTimeSeconds)
        return ArrayTaskPlan(
          captures: captures.map(\.index),
          costSeconds: captures.reduce(0) { $0 + $1.costSeconds },
          request: request, captureRequest: batch.request)
      }
    }
  }
}

/// The capacity of one array task.
struct Capacity {
  var seconds: Double
  var captures: Int

  static let unlimited = Capacity(seconds: .infinity, captures: .max)

  init(seconds: Double, captures: Int) {
    self.seconds = seconds
    self.captures = captures
  }

  init(_ limit: GroupLimit) {
    switch limit {
    case .captures(let count): self.init(seconds: .infinity, captures: max(1, count))
    case .seconds(let seconds): self.init(seconds: max(1, seconds), captures: .max)
    }
  }

  func times(_ factor: Double) -> Capacity {
    let more = Double(captures) * factor
    return Capacity(
      seconds: seconds * factor, captures: more < 1e15 ? Int(more.rounded(.down)) : captures)
  }
}

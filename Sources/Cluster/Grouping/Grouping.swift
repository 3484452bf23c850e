/// A capture that becomes part of an element.
public struct GroupedCapture: Hashable, Sendable {
  /// The caller's number for it; unique. Of captures that cost the same the lower comes first.
  public var index: Int
  /// Expected seconds.
  public var costSeconds: Double
  /// What it asks for alone: its time is that of this one capture.
  public var request: JobRequest
  /// Whether it must not share an element: it is tried again by itself.
  public var isAlone: Bool

  public init(index: Int, costSeconds: Double, request: JobRequest, isAlone: Bool = false) {
    self.index = index
    self.costSeconds = costSeconds
    self.request = request
    self.isAlone = isAlone
  }
}

/// The captures of one element.
public struct ArrayTaskPlan: Hashable, Sendable {
  /// `GroupedCapture.index`, the most expensive first.
  public var captures: [Int]
  public var costSeconds: Double
  /// The time is the sum over its captures, never above the longest allowed.
  public var request: JobRequest
  /// What each of its captures asks for: elements alike in it may share an array.
  public var captureRequest: JobRequest

  public init(
    captures: [Int], costSeconds: Double, request: JobRequest, captureRequest: JobRequest
  ) {
    self.captures = captures
    self.costSeconds = costSeconds
    self.request = request
    self.captureRequest = captureRequest
  }
}

/// What elements may hold and how many there may be.
public struct GroupingLimits: Hashable, Sendable {
  public var group: GroupLimit
  /// No element asks for more; a single capture that does gets this.
  public var maxTimeSeconds: Int
  /// How many elements there should be at most; groups grow until there are no more, as far as time allows.
  public var mostElements: Int

  /// - Parameters:
  ///   - maxArraySize: of the site.
  ///   - maxQueued: of the profile.
  public init(group: GroupLimit, maxTimeSeconds: Int, maxArraySize: Int, maxQueued: Int) {
    self.group = group
    self.maxTimeSeconds = max(1, maxTimeSeconds)
    mostElements = max(1, min(maxArraySize, maxQueued))
  }
}

/// From captures to elements.
public enum Grouping {
  /// Captures with equal requests together, the most expensive first, each into the first element that has
  /// room for it.
  ///
  /// Every capture is in exactly one element. Elements with equal requests follow each other, those with the
  /// most expensive capture first. There may be more than `mostElements`: captures that must be alone, with
  /// different requests, or too long for one element's time are not put together for that.
  /// Cost: n log n, times about 20 where groups must grow.
  public static func elements(
    _ captures: [GroupedCapture], _ limits: GroupingLimits
  ) -> [ArrayTaskPlan] {
    let batches = batches(of: captures, maxTimeSeconds: limits.maxTimeSeconds)
    let wanted = Capacity(limits.group)
    let packed = batches.map { Packing($0, wanted) }
    guard count(packed) > limits.mostElements else { return plans(packed, batches, limits) }
    return plans(coarser(batches, wanted, limits.mostElements), batches, limits)
  }

  /// The finest packing of at most so many elements; the coarsest of all when there is none.
  private static func coarser(_ batches: [Batch], _ wanted: Capacity, _ most: Int) -> [Packing] {
    var coarse = batches.map { Packing($0, .unlimited) }
    guard count(coarse) <= most else { return coarse }
    // By factors of the wanted capacity: what is too fine, and what is coarse enough.
    var (fine, enough) = (1.0, Double.infinity)
    for _ in 0..<24 {
      let factor = enough.isFinite ? (fine + enough) / 2 : fine * 4
      let packed = batches.map { Packing($0, wanted.times(factor)) }
      if count(packed) <= most {
        (enough, coarse) = (factor, packed)
      } else {
        fine = factor
      }
      // Closer than the costs are known.
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
        // No overflow: a full element is bounded by the longest time.
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

/// How much one element may hold.
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

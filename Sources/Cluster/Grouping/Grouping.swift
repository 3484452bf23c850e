/// A capture to be grouped.
struct GroupedCapture: Hashable, Sendable {
  /// The caller's unique number. Of captures with equal cost the lower index comes first.
  var index: Int
  /// Expected seconds.
  var costSeconds: Double
  /// The request for this capture alone.
  var request: JobRequest
  /// Whether it must have an array task of its own, as for retries.
  var isAlone: Bool = false
}

/// The captures of one array task.
struct ArrayTaskPlan: Hashable, Sendable {
  /// Values of `GroupedCapture.index`, the most expensive capture first.
  var captures: [Int]
  var costSeconds: Double
  /// Its time is the sum over the captures, at most `maxTimeSeconds`.
  var request: JobRequest
  /// The request of each single capture. Only tasks with equal values share an array.
  var captureRequest: JobRequest
}

/// Limits for the size and the number of array tasks.
struct GroupingLimits: Hashable, Sendable {
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
enum Grouping {
  /// Groups captures with equal requests: in order of descending cost, each goes into the first
  /// task that has capacity left.
  ///
  /// Every capture is in exactly one task. Tasks with equal requests are consecutive, those with
  /// the most expensive capture first. There may be more than `mostElements` tasks, because
  /// captures that must be alone, differ in their requests or exceed a task's time limit are never
  /// combined. Cost: O(n log n), up to 25 times that if groups must grow.
  static func elements(
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

  func times(_ factor: Double) -> Capacity {
    let more = Double(captures) * factor
    return Capacity(
      seconds: seconds * factor, captures: more < 1e15 ? Int(more.rounded(.down)) : captures)
  }
}

extension Capacity {
  init(_ limit: GroupLimit) {
    switch limit {
    case .captures(let count): self.init(seconds: .infinity, captures: max(1, count))
    case .seconds(let seconds): self.init(seconds: max(1, seconds), captures: .max)
    }
  }
}

/// Captures with equal requests, the most expensive first.
struct Batch {
  let request: JobRequest
  let captures: [GroupedCapture]
  /// Number of them that fit into the longest time; at least 1.
  let mostPerElement: Int

  init(_ request: JobRequest, _ captures: [GroupedCapture], maxTimeSeconds: Int) {
    self.request = request
    self.captures = captures.sorted {
      $0.costSeconds == $1.costSeconds
        ? $0.index < $1.index : $0.costSeconds > $1.costSeconds
    }
    mostPerElement = max(1, maxTimeSeconds / max(1, request.timeSeconds))
  }

  /// Orders batches by their most expensive capture.
  func isBefore(_ other: Batch) -> Bool {
    guard let first = captures.first, let second = other.captures.first else { return false }
    return first.costSeconds == second.costSeconds
      ? first.index < second.index : first.costSeconds > second.costSeconds
  }
}

/// The captures of a batch in array tasks: first fit.
struct Packing {
  /// Positions in `Batch.captures`, by task.
  private(set) var members: [[Int]] = []

  init(_ batch: Batch, _ capacity: Capacity) {
    let most = min(batch.mostPerElement, capacity.captures)
    var free = FirstFit(capacity: batch.captures.count)
    for (place, capture) in batch.captures.enumerated() {
      let cost = capture.costSeconds.isFinite ? max(0, capture.costSeconds) : 0
      if !capture.isAlone, let element = free.first(atLeast: cost) {
        members[element].append(place)
        // A task with the largest number of captures is full, whatever time is left.
        free[element] = members[element].count >= most ? -1 : free[element] - cost
      } else {
        free[members.count] = capture.isAlone || most == 1 ? -1 : capacity.seconds - cost
        members.append([place])
      }
    }
  }
}

/// Finds the first of many tasks with enough free capacity in O(log n): a tree in which each node
/// has the largest free capacity below it.
struct FirstFit {
  private var tree: [Double]
  private let leaves: Int

  /// Tasks whose value has not been set have no capacity.
  init(capacity: Int) {
    var leaves = 1
    while leaves < capacity { leaves *= 2 }
    self.leaves = leaves
    tree = [Double](repeating: -1, count: leaves * 2)
  }

  subscript(element: Int) -> Double {
    get { tree[leaves + element] }
    set {
      var node = leaves + element
      tree[node] = newValue
      while node > 1 {
        node /= 2
        tree[node] = max(tree[node * 2], tree[node * 2 + 1])
      }
    }
  }

  /// `nil` if no task has that much capacity.
  func first(atLeast capacity: Double) -> Int? {
    guard tree[1] >= capacity else { return nil }
    var node = 1
    while node < leaves { node = tree[node * 2] >= capacity ? node * 2 : node * 2 + 1 }
    return node - leaves
  }
}

/// Consecutive array tasks that are submitted together.
struct ArrayPlan: Hashable, Sendable {
  /// Their numbers.
  var elements: Range<Int>
  /// A request that suffices for each of them.
  var request: JobRequest
}

extension Grouping {
  /// Splits consecutive tasks into arrays of at most `maxArraySize`. Tasks share an array if their
  /// captures have the same request. The time of an array is that of its longest task.
  ///
  /// - Parameter first: the number of the first of `elements`.
  static func arrays(
    of elements: [ArrayTaskPlan], first: Int = 0, maxArraySize: Int
  ) -> [ArrayPlan] {
    var arrays: [ArrayPlan] = []
    var shared: JobRequest?
    for (place, element) in elements.enumerated() {
      let number = first + place
      if shared == element.captureRequest, var last = arrays.last,
        last.elements.count < max(1, maxArraySize)
      {
        last.elements = last.elements.lowerBound..<number + 1
        last.request.timeSeconds = max(last.request.timeSeconds, element.request.timeSeconds)
        arrays[arrays.count - 1] = last
      } else {
        shared = element.captureRequest
        arrays.append(ArrayPlan(elements: number..<number + 1, request: element.request))
      }
    }
    return arrays
  }

  /// How many tasks of each array may run at a time, `total` in all. The shares are proportional to
  /// the remaining counts. Each array with remaining tasks gets at least 1, because Slurm's
  /// throttle applies per array, and none gets more than it has.
  ///
  /// With more arrays than `total` the sum exceeds `total`.
  static func throttles(_ total: Int, over counts: [Int]) -> [Int] {
    let counts = counts.map { max(0, $0) }
    let all = counts.reduce(0) { $0.addingReportingOverflow($1).partialValue }
    guard all > max(0, total) else { return counts }
    var shares = counts.map { count in
      min(count, max(1, Int(Double(total) * Double(count) / Double(all))))
    }
    // Rounding leaves a remainder: the largest arrays get the surplus, or give up what is too much.
    var rest = total - shares.reduce(0, +)
    let order = counts.indices.sorted { (counts[$0], $1) > (counts[$1], $0) }
    while rest != 0 {
      var hasChanged = false
      for index in order where rest != 0 {
        let next = shares[index] + (rest > 0 ? 1 : -1)
        guard next >= 1, next <= counts[index] else { continue }
        shares[index] = next
        rest += rest > 0 ? -1 : 1
        hasChanged = true
      }
      if !hasChanged { break }
    }
    return shares
  }
}

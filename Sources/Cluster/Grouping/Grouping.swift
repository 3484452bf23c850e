/// Groups captures into array tasks.
enum Grouping {
  /// Groups captures: in order of descending cost, each goes into the first task that has capacity
  /// left. Of captures with equal cost the lower index comes first.
  ///
  /// Every capture is in exactly one task, the most expensive one of each task first; the task with
  /// the most expensive capture comes first. Cost: O(n log n), up to 25 times that if groups must
  /// grow.
  ///
  /// - Parameters:
  ///   - costs: expected seconds of the captures.
  ///   - group: the wanted size of a task.
  ///   - mostEach: number of captures that fit into the longest time of a task.
  ///   - mostElements: the wanted maximum number of tasks. Groups grow until it is met, as far as
  ///     `mostEach` allows.
  /// - Returns: indices of `costs` by task.
  static func elements(
    _ costs: [Double], _ group: GroupLimit, mostEach: Int, mostElements: Int
  ) -> [[Int]] {
    let order = costs.indices.sorted {
      costs[$0] == costs[$1] ? $0 < $1 : costs[$0] > costs[$1]
    }
    func packed(_ limit: GroupLimit) -> [[Int]] { pack(order, costs, limit, max(1, mostEach)) }
    let most = max(1, mostElements)
    let wanted = packed(group)
    guard wanted.count > most else { return wanted }
    var coarse = packed(.seconds(.infinity))
    guard coarse.count <= most else { return coarse }
    // Bisects the factor of the wanted size: `fine` gives too many tasks, `enough` does not.
    var (fine, enough) = (1.0, Double.infinity)
    for _ in 0..<24 {
      let factor = enough.isFinite ? (fine + enough) / 2 : fine * 4
      let elements = packed(group.times(factor))
      if elements.count <= most {
        (enough, coarse) = (factor, elements)
      } else {
        fine = factor
      }
      // The cost estimates are less exact than this.
      if enough / fine < 1.02 { break }
    }
    return coarse
  }

  /// First fit.
  private static func pack(
    _ order: [Int], _ costs: [Double], _ limit: GroupLimit, _ mostEach: Int
  ) -> [[Int]] {
    var (seconds, most) = (Double.infinity, mostEach)
    switch limit {
    case .captures(let count): most = min(most, max(1, count))
    case .seconds(let wanted): seconds = max(1, wanted)
    }
    var elements: [[Int]] = []
    var free = FirstFit(capacity: order.count)
    for index in order {
      let cost = costs[index].isFinite ? max(0, costs[index]) : 0
      if let element = free.first(atLeast: cost) {
        elements[element].append(index)
        // A task with the largest number of captures is full, whatever time is left.
        free[element] = elements[element].count >= most ? -1 : free[element] - cost
      } else {
        free[elements.count] = most == 1 ? -1 : seconds - cost
        elements.append([index])
      }
    }
    return elements
  }
}

extension GroupLimit {
  fileprivate func times(_ factor: Double) -> GroupLimit {
    switch self {
    case .seconds(let seconds): return .seconds(max(1, seconds) * factor)
    case .captures(let count):
      let more = Double(max(1, count)) * factor
      return more < 1e15 ? .captures(Int(more.rounded(.down))) : self
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

/// Consecutive array tasks that are submitted together: their numbers, and a request that suffices for each of them.
typealias ArrayPlan = (elements: Range<Int>, request: JobRequest)

extension Grouping {
  /// Splits consecutive tasks into arrays of at most `maxArraySize`. Tasks share an array if their
  /// captures have the same request. The time of an array is that of its longest task.
  ///
  /// - Parameter first: the number of the first of `elements`.
  static func arrays(
    of elements: [ArrayTaskGroup], first: Int = 0, maxArraySize: Int
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
        arrays.append((number..<number + 1, element.request))
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

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

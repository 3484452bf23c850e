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

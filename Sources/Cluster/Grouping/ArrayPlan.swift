/// Elements that follow each other and are submitted together.
public struct ArrayPlan: Hashable, Sendable {
  /// Numbers of its elements.
  public var elements: Range<Int>
  /// Enough for each of them.
  public var request: JobRequest

  public init(elements: Range<Int>, request: JobRequest) {
    self.elements = elements
    self.request = request
  }
}

extension Grouping {
  /// Consecutive elements into arrays of at most `maxArraySize`: those whose captures ask for the same share
  /// one. The time of an array is that of its longest element.
  ///
  /// - Parameter first: the number of the first of `elements`.
  public static func arrays(
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

  /// How many elements of each array may run at a time, together `total`: in proportion to how many each has
  /// left, at least 1 of each that has any (Slurm's throttle counts per array), never more than it has.
  ///
  /// With more arrays than `total` the sum is above it: submit fewer arrays.
  public static func throttles(_ total: Int, over counts: [Int]) -> [Int] {
    let counts = counts.map { max(0, $0) }
    let all = counts.reduce(0) { $0.addingReportingOverflow($1).partialValue }
    guard all > max(0, total) else { return counts }
    var shares = counts.map { count in
      min(count, max(1, Int(Double(total) * Double(count) / Double(all))))
    }
    // What rounding has left over goes to the largest, what it has taken too much comes from them.
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

extension Sequence where Element: Hashable {
  /// Each element once, in the order in which they come first.
  public var uniqued: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}

extension Dictionary {
  /// Of several values of one key the first one counts.
  public init(firstOf pairs: some Sequence<(Key, Value)>) {
    self.init(pairs) { first, _ in first }
  }
}

extension RandomAccessCollection {
  /// The first index whose element fulfills a condition that no element before it and every element behind
  /// it fulfills; the end without one. Cost: logarithmic.
  @inlinable
  public func partitioningIndex(where isBehind: (Element) -> Bool) -> Index {
    var low = startIndex
    var count = count
    while count > 0 {
      let half = count / 2
      let middle = index(low, offsetBy: half)
      if isBehind(self[middle]) {
        count = half
      } else {
        low = index(after: middle)
        count -= half + 1
      }
    }
    return low
  }
}

extension Array where Element: ExpressibleByIntegerLiteral {
  /// Gives a buffer that is used again this many elements; all are 0 after a change of their number.
  @inlinable
  public mutating func resize(to count: Int) {
    if self.count != count { self = Array(repeating: 0, count: count) }
  }
}

extension Array {
  /// At most so many elements, evenly spaced, with the first and the last; of one, the middle one.
  public func evenly(_ most: Int) -> [Element] {
    guard count > most else { return self }
    guard most > 1 else { return most < 1 ? [] : [self[count / 2]] }
    return (0..<most).map { self[$0 * (count - 1) / (most - 1)] }
  }
}

extension Int {
  /// This many quarter turns as those that are left of full turns: 0 to 3.
  public var withinFullTurn: Int { ((self % 4) + 4) % 4 }
}

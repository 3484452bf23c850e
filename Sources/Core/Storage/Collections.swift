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

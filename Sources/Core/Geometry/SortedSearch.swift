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

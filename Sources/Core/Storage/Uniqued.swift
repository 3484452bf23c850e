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

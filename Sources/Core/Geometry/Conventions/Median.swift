/// The median of a list of numbers.
public enum Median {
  /// The median; for an even count the mean of the middle two, for an empty list 0.
  public static func of(_ values: [Double]) -> Double {
    guard !values.isEmpty else { return 0 }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    guard sorted.count % 2 == 0 else { return sorted[middle] }
    // Equal values are returned as they are: their sum could overflow.
    return sorted[middle - 1] == sorted[middle]
      ? sorted[middle] : sorted[middle - 1] / 2 + sorted[middle] / 2
  }

  /// The median as one of the values: for an even count the larger of the middle two; `nil` for an empty list. Cost: a
  /// sort.
  public static func upper<Value: Comparable>(_ values: [Value]) -> Value? {
    upper(ofSorted: values.sorted())
  }

  /// The upper median of ascending values.
  public static func upper<Value: Comparable>(ofSorted values: [Value]) -> Value? {
    values.isEmpty ? nil : values[values.count / 2]
  }
}

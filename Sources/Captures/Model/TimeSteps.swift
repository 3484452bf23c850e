import Core

/// The steps between consecutive times, in the given order.
public struct TimeSteps: Sendable {
  /// Steps in nanoseconds; negative where time goes back.
  public var nanoseconds: [Int64]

  /// The times must not contain frames without time.
  public init(_ times: [Timestamp]) {
    nanoseconds = zip(times.dropFirst(), times).map { $0 - $1 }
  }

  /// Steps between adjacent frames that both have a time. Around a frame without time there is no
  /// step, so it is no evidence of a gap.
  public init(ofNeighbors times: [Timestamp?]) {
    nanoseconds = zip(times, times.dropFirst()).compactMap { before, after in
      guard let before, let after else { return nil }
      return after - before
    }
  }

  /// The median step; for an even number the mean of the middle two, rounded down; `nil` without
  /// steps.
  public var medianNanoseconds: Int64? {
    guard !nanoseconds.isEmpty else { return nil }
    let sorted = nanoseconds.sorted()
    let middle = sorted.count / 2
    if sorted.count % 2 == 1 { return sorted[middle] }
    let (low, high) = (sorted[middle - 1], sorted[middle])
    // The difference of two Int64 may need 64 bits without sign.
    let distance = UInt64(bitPattern: high) &- UInt64(bitPattern: low)
    return low &+ Int64(bitPattern: distance / 2)
  }

  /// Number of steps above `factor` × the median step; 0 when the median is not positive.
  func gaps(above factor: Double) -> Int {
    guard let median = medianNanoseconds, median > 0 else { return 0 }
    return nanoseconds.count { Double($0) > factor * Double(median) }
  }

  /// Number of steps below zero.
  var backward: Int { nanoseconds.count { $0 < 0 } }

  /// Number of steps of exactly zero.
  var repeated: Int { nanoseconds.count { $0 == 0 } }

  /// Frequency by the median step; `nil` without a positive median.
  public var rateHz: Double? {
    guard let median = medianNanoseconds, median > 0 else { return nil }
    return 1e9 / Double(median)
  }
}

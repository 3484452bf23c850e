import Geometry

/// The steps between neighboring times, in the order given.
public struct TimeSteps: Sendable {
  /// Nanoseconds; negative where time goes back.
  public var nanoseconds: [Int64]

  /// Frames without time are left out by the caller.
  public init(_ times: [Timestamp]) {
    nanoseconds = zip(times.dropFirst(), times).map { $0 - $1 }
  }

  /// Steps between frames that are next to each other and both have a time: a frame without time is no
  /// evidence of a gap.
  public init(ofNeighbors times: [Timestamp?]) {
    nanoseconds = zip(times, times.dropFirst()).compactMap { before, after in
      guard let before, let after else { return nil }
      return after - before
    }
  }

  /// The median step: of an even number the mean of the middle two, rounded down; `nil` without steps.
  public var medianNanoseconds: Int64? {
    guard !nanoseconds.isEmpty else { return nil }
    let sorted = nanoseconds.sorted()
    let middle = sorted.count / 2
    if sorted.count % 2 == 1 { return sorted[middle] }
    let (low, high) = (sorted[middle - 1], sorted[middle])
    // The distance of two Int64 may need 64 bits without sign.
    let distance = UInt64(bitPattern: high) &- UInt64(bitPattern: low)
    return low &+ Int64(bitPattern: distance / 2)
  }

  /// Steps above `factor` × the median step; none when the median is not positive.
  public func gaps(above factor: Double) -> Int {
    guard let median = medianNanoseconds, median > 0 else { return 0 }
    return nanoseconds.count { Double($0) > factor * Double(median) }
  }

  /// Steps below zero.
  public var backward: Int { nanoseconds.count { $0 < 0 } }

  /// Steps of exactly zero.
  public var repeated: Int { nanoseconds.count { $0 == 0 } }

  /// Steps per second by the median step; `nil` without a positive median.
  public var rateHz: Double? {
    guard let median = medianNanoseconds, median > 0 else { return nil }
    return 1e9 / Double(median)
  }
}

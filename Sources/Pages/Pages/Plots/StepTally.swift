/// The median of positive steps of a series of any length, in constant memory. Steps are counted in
/// bins of 1 % width, from 1 ns to about 30 years.
struct StepTally {
  /// Bins per factor of two: 2^(1/64) is 1.09 %.
  private static let perDoubling = 64
  private static let doublings = 60
  private var bins = [Int](repeating: 0, count: perDoubling * doublings)
  private(set) var count = 0
  private(set) var longest = 0.0
  private var sums: [Double] = Array(repeating: 0, count: perDoubling * doublings)

  /// Adds a step in nanoseconds; steps of 0 or less are ignored.
  mutating func add(_ step: Double) {
    guard step >= 1, step.isFinite else { return }
    let exponent = Int(step.exponent)
    let bin =
      exponent * Self.perDoubling + Int((step.significand - 1) * Double(Self.perDoubling))
    let place = min(bin, bins.count - 1)
    bins[place] += 1
    sums[place] += step
    count += 1
    longest = max(longest, step)
  }

  /// The median in nanoseconds: the mean of the steps in its bin; `nil` without steps.
  var median: Double? {
    guard count > 0 else { return nil }
    var rest = (count - 1) / 2
    for (bin, inBin) in bins.enumerated() where inBin > 0 {
      if rest < inBin { return sums[bin] / Double(inBin) }
      rest -= inBin
    }
    return nil
  }
}

/// The values of one quantity in repeated runs.
public struct Distribution: Hashable, Sendable, Codable {
  /// In the order of the runs.
  public var samples: [Double]
  var minimum: Double
  var percentile10: Double
  public var median: Double
  var percentile90: Double
  var maximum: Double

  /// `nil` without samples.
  init?(_ samples: [Double]) {
    let sorted = samples.sorted()
    guard let first = sorted.first, let last = sorted.last else { return nil }
    self.samples = samples
    minimum = first
    maximum = last
    percentile10 = Self.percentile(0.1, ofSorted: sorted)
    median = Self.percentile(0.5, ofSorted: sorted)
    percentile90 = Self.percentile(0.9, ofSorted: sorted)
  }

  /// Interpolates linearly between two samples; `fraction` 0 is the smallest, 1 the largest.
  /// `sorted` must not be empty.
  private static func percentile(_ fraction: Double, ofSorted sorted: [Double]) -> Double {
    let place = fraction * Double(sorted.count - 1)
    let lower = Int(place)
    let upper = min(lower + 1, sorted.count - 1)
    return sorted[lower] + (sorted[upper] - sorted[lower]) * (place - Double(lower))
  }
}

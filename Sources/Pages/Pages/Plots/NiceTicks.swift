/// Tick positions at round numbers: steps of 1, 2 or 5 times a power of ten.
struct NiceTicks: Hashable {
  /// Ascending, inside the range; empty for an empty range.
  let values: [Double]
  /// Number of decimals that distinguish them.
  let decimals: Int

  /// At most about `most` ticks, and at least two if doubles can tell them apart: a single tick would
  /// not show the scale. For that the step becomes smaller, and the ticks more than `most`.
  init(_ range: ClosedRange<Double>, most: Int) {
    let span = range.upperBound - range.lowerBound
    guard span > 0, span.isFinite, most > 0 else {
      values = []
      decimals = 0
      return
    }
    let least = span / Double(most)
    var power = 1.0
    var places = 0
    while power > least, places < 300 {
      power /= 10
      places += 1
    }
    while power * 10 <= least, places > -300 {
      power *= 10
      places -= 1
    }
    // Now power ≤ least < 10 · power.
    let steps: [(factor: Double, places: Int)] = [
      (10, places - 1), (5, places), (2, places), (1, places), (0.5, places + 1),
      (0.2, places + 1),
    ]
    let start = steps.lastIndex { power * $0.factor >= least } ?? 0
    var chosen = steps[start]
    var values = Self.multiples(of: power * chosen.factor, in: range, most: most)
    for smaller in steps[(start + 1)...] where values.count < 2 {
      chosen = smaller
      values = Self.multiples(of: power * chosen.factor, in: range, most: most)
    }
    self.values = values
    decimals = min(max(chosen.places, 0), 9)
  }

  private static func multiples(
    of step: Double, in range: ClosedRange<Double>, most: Int
  ) -> [Double] {
    var values: [Double] = []
    let first = (range.lowerBound / step).rounded(.up)
    for index in 0...(most + 2) {
      let value = (first + Double(index)) * step
      guard value <= range.upperBound + step * 1e-9 else { break }
      values.append(value == 0 ? 0 : value)
    }
    return values
  }

  func text(_ value: Double) -> String { FigureText.fixed(value, decimals) }

  /// `range` extended to round numbers, so that no value is on the border.
  static func around(_ range: ClosedRange<Double>, most: Int = 4) -> ClosedRange<Double> {
    let (low, high) = (range.lowerBound, range.upperBound)
    guard low.isFinite, high.isFinite, (high - low).isFinite else { return -1...1 }
    if low == high {
      let margin = max(abs(low) * 0.1, 1e-3)
      return (low - margin)...(high + margin)
    }
    let ticks = NiceTicks(range, most: most).values
    guard ticks.count > 1 else { return range }
    let step = ticks[1] - ticks[0]
    let outer = ((low / step).rounded(.down) * step)...((high / step).rounded(.up) * step)
    return outer.lowerBound < outer.upperBound ? outer : range
  }
}

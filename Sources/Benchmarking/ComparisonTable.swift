import Core

/// Formats a comparison of two reports for people.
extension BenchmarkTable {
  /// Notes, the number of better, worse and uncertain figures, the worse ones, and a conclusion.
  ///
  /// - Parameter isWhole: whether to list every figure, with the interval of the ratio and the
  ///   verdict.
  public static func text(_ comparison: BaselineComparison, isWhole: Bool = false) -> String {
    var lines = comparison.notes.map { "note: " + $0 }
    let percent = shortText(100 * comparison.tolerance)
    let worse = comparison.regressions
    if isWhole, !comparison.lines.isEmpty {
      lines += ColumnText.lines(
        [["figure", "before", "now", "now ÷ before", "between", "verdict"]]
          + comparison.lines.map(row))
    }
    let better = comparison.lines.count { $0.verdict == .better }
    let uncertain = comparison.lines.count { $0.verdict == .uncertain }
    lines.append(
      "against the baseline: \(comparison.lines.count) figures compared, \(worse.count) worse by more "
        + "than \(percent) %" + (better > 0 ? ", \(better) better" : "")
        + (uncertain > 0 ? ", \(uncertain) uncertain" : ""))
    if !isWhole {
      lines += ColumnText.lines(
        worse.map { line in
          [
            "  \(name(line))", shortText(line.before), "→", shortText(line.now),
            "+\(shortText(100 * line.change)) %",
          ]
        })
    }
    lines.append(conclusion(comparison))
    return lines.joined(separator: "\n")
  }

  /// The last line: the conclusion.
  private static func conclusion(_ comparison: BaselineComparison) -> String {
    switch comparison.verdict {
    case .same: "no difference"
    case .better: "better"
    case .worse: "worse"
    case .uncertain:
      "uncertain: the runs do not show whether figures differ by more than the tolerance; measure "
        + "again with \(RatioInterval.enoughRuns) runs or more of each on a quiet machine"
    }
  }

  private static func name(_ line: BaselineComparison.Line) -> String {
    "\(line.capture), -j \(line.jobs), \(line.name), \(line.quantity)"
  }

  private static func row(_ line: BaselineComparison.Line) -> [String] {
    [
      name(line), shortText(line.before), shortText(line.now),
      line.nowByBefore.map { decimalText($0, places: 3) } ?? "-",
      line.interval.map {
        decimalText($0[0], places: 3) + "…" + decimalText($0[1], places: 3)
      } ?? "-", line.verdict.rawValue,
    ]
  }
}

/// A confidence interval of the ratio of two medians, by the spread of the runs on both sides.
///
/// The 99 % interval of a bootstrap (runs drawn with replacement, 1,000 times, with a fixed seed).
/// It is widened for what few runs cannot show: by the relative range of the side that varied more,
/// less with more runs, and by a quarter for each run below five. Two sets of runs of the same
/// program therefore overlap, even if a temporary slowdown of the machine affected one of them.
/// Cost: 1,000 medians of each side.
struct RatioInterval: Hashable {
  let lower: Double
  let upper: Double

  /// Number of runs from which their spread is considered known.
  static let enoughRuns = 5

  /// - Parameters:
  ///   - doubt: relative widening for reasons that runs do not show: 0.5 = half.
  /// - Returns: `nil` if a value is 0 or less, for which a ratio has no meaning.
  init?(now: [Double], before: [Double], doubt: Double = 0) {
    guard let now = Distribution(now), let before = Distribution(before), now.minimum > 0,
      before.minimum > 0
    else { return nil }
    var random = SeededRandom(seed: 1)
    var ratios = (0..<Self.draws).map { _ in
      Self.median(now.samples, &random) / Self.median(before.samples, &random)
    }
    ratios.sort()
    let spread = max(Self.relativeRange(now), Self.relativeRange(before))
    let runs = min(now.samples.count, before.samples.count)
    let shown = Double(Self.enoughRuns) / Double(runs)
    let few = 0.25 * Double(max(0, Self.enoughRuns - runs))
    let factor = (1 + spread * shown * shown + few) * (1 + max(0, doubt))
    lower = ratios[Self.draws / 200] / factor
    upper = ratios[Self.draws - 1 - Self.draws / 200] * factor
  }

  /// The interval for two single figures that vary by up to `share`.
  init?(now: Double, before: Double, varyingBy share: Double) {
    guard now > 0, before > 0 else { return nil }
    lower = now / before / (1 + share)
    upper = now / before * (1 + share)
  }

  private static let draws = 1000

  /// The median of as many samples, drawn with replacement.
  private static func median(_ samples: [Double], _ random: inout SeededRandom) -> Double {
    Median.of(samples.indices.map { _ in samples[random.index(below: samples.count)] })
  }

  private static func relativeRange(_ side: Distribution) -> Double {
    (side.maximum - side.minimum) / side.median
  }
}

/// SplitMix64: the same sequence for the same seed on every machine.
private struct SeededRandom {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func index(below count: Int) -> Int {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    z ^= z >> 31
    return Int(z.multipliedFullWidth(by: UInt64(count)).high)
  }
}

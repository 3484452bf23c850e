/// Formats a comparison of two reports for people.
extension BenchmarkTable {
  /// Notes, the number of better, worse and uncertain figures, the worse ones, and a conclusion.
  ///
  /// - Parameter isWhole: whether to list every figure, with the interval of the ratio and the
  ///   verdict.
  public static func text(_ comparison: BaselineComparison, isWhole: Bool = false) -> String {
    var lines = comparison.notes.map { "note: " + $0 }
    let percent = TableNumber.short(100 * comparison.tolerance)
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
            "  \(name(line))", TableNumber.short(line.before), "→", TableNumber.short(line.now),
            "+\(TableNumber.short(100 * line.change)) %",
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
      name(line), TableNumber.short(line.before), TableNumber.short(line.now),
      line.nowByBefore.map { TableNumber.decimal($0, places: 3) } ?? "-",
      line.interval.map {
        TableNumber.decimal($0[0], places: 3) + "…" + TableNumber.decimal($0[1], places: 3)
      } ?? "-", line.verdict.rawValue,
    ]
  }
}

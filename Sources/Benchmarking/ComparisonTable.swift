/// A comparison of two reports as people read it.
extension BenchmarkTable {
  /// Notes, how many figures are better and worse, and those that are worse.
  ///
  /// - Parameter isWhole: every figure in a table, with the interval of the ratio and the verdict.
  public static func text(_ comparison: BaselineComparison, isWhole: Bool = false) -> String {
    var lines = comparison.notes.map { "note: " + $0 }
    let percent = NumberText.short(100 * comparison.tolerance)
    let worse = comparison.regressions
    if isWhole, !comparison.lines.isEmpty {
      lines += ColumnText.lines(
        [["figure", "before", "now", "ratio", "of single runs", "verdict"]]
          + comparison.lines.map(row))
    }
    let better = comparison.lines.count { $0.verdict == .better }
    lines.append(
      "against the baseline: \(comparison.lines.count) figures compared, \(worse.count) worse by more "
        + "than \(percent) %" + (better > 0 ? ", \(better) better" : ""))
    guard !isWhole else { return lines.joined(separator: "\n") }
    lines += ColumnText.lines(
      worse.map { line in
        [
          "  \(name(line))", NumberText.short(line.before), "→", NumberText.short(line.now),
          "+\(NumberText.short(100 * line.change)) %",
        ]
      })
    return lines.joined(separator: "\n")
  }

  private static func name(_ line: BaselineComparison.Line) -> String {
    "\(line.capture), -j \(line.jobs), \(line.name), \(line.quantity)"
  }

  private static func row(_ line: BaselineComparison.Line) -> [String] {
    let doubt = line.verdict != .same && line.overlaps ? ", but runs overlap" : ""
    return [
      name(line), NumberText.short(line.before), NumberText.short(line.now),
      line.ratio.map { NumberText.decimal($0, places: 3) } ?? "-",
      line.interval.map {
        NumberText.decimal($0[0], places: 3) + "…" + NumberText.decimal($0[1], places: 3)
      } ?? "-", line.verdict.rawValue + doubt,
    ]
  }
}

import Captures
import Engine
import Core

/// The one line of totals at the end of a run, in captures.
enum TotalsText {
  /// `12 captures: 9 done, 2 done with warnings (3), 1 failed · 4 min 10 s · 1,204 frames`.
  static func line(_ report: RunReport) -> String {
    let captures = report.captures
    var parts: [String] = []
    func add(_ count: Int, _ words: String) {
      if count > 0 { parts.append("\(NumberText.grouped(count)) \(words)") }
    }
    let done = captures.filter { $0.outcome == .done }
    let incomplete = done.filter { !$0.missing.isEmpty }
    let warned = done.filter { $0.missing.isEmpty && !$0.warningCount.isNone }
    add(done.count - incomplete.count - warned.count, "done")
    let warnings = WarningCount(warned.flatMap(\.allWarnings))
    add(warned.count, "done with warnings (\(warnings.words))")
    add(
      incomplete.count,
      incomplete.count == 1
        ? "done but incomplete (\(OutcomeWords.lacks(incomplete[0].missing)))"
        : "done but incomplete")
    for outcome in [CaptureReport.Outcome.failed, .blocked, .interrupted, .skipped] {
      add(captures.count { $0.outcome == outcome }, outcome.rawValue)
    }
    if parts.isEmpty { parts = ["nothing found"] }
    let count = "\(NumberText.grouped(captures.count)) \(Plural.word(captures.count, "capture"))"
    var line = ["\(count): " + parts.joined(separator: ", ")]
    let hasNothingRun = !captures.flatMap(\.stages).contains { $0.outcome == .ran }
    if hasNothingRun, done.count == captures.count {
      let isMissing = captures.contains { !$0.notMade.isEmpty }
      line.append(isMissing ? "nothing to do" : "nothing to do, everything is up to date")
    }
    line.append(DurationText.measured(report.totals.wallSeconds))
    let frames = report.totals.frames
    if frames > 0 { line.append("\(NumberText.grouped(frames)) frames") }
    return line.joined(separator: " · ")
  }
}

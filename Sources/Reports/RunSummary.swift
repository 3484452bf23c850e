import Pipeline
import Runner

/// The closing lines of a run.
public enum RunSummary {
  /// `<capture-id> <outcome> <stages done>/<stages>`: the line that scripts read.
  public static func line(_ capture: CaptureReport) -> String {
    "\(capture.id) \(capture.outcome.rawValue) \(capture.stagesDone)/\(capture.stagesApplicable)"
  }

  /// What a person at a terminal reads at the end.
  ///
  /// Without `captureLines` for whoever has read those already.
  public static func closing(
    _ report: RunReport, seconds: Double, captureLines: Bool = true
  ) -> String {
    var lines: [String] = []
    for capture in report.captures {
      var text = line(capture)
      if let message = capture.message { text += ": \(message)" }
      if captureLines || capture.message != nil { lines.append(text) }
      for stage in capture.stages where [.failed, .blocked, .cancelled].contains(stage.outcome) {
        lines.append("  \(stage.stage) \(stage.outcome.rawValue): \(stage.message ?? "")")
      }
    }
    let ran = report.captures.flatMap(\.stages).filter { $0.outcome == .ran }
    if ran.isEmpty, report.captures.allSatisfy({ $0.outcome == .done }) {
      lines.append("nothing to do: everything is up to date")
    } else {
      let frames = ran.compactMap(\.frames).reduce(0, +)
      lines.append(
        "\(ran.count) stages ran, \(frames) frames, in \(RateEstimate.short(seconds)) s")
    }
    return lines.joined(separator: "\n")
  }
}

import Core
import Engine

/// The first sentence of the page: whether everything arrived, whether everything is done, and how
/// many captures need attention.
struct NightSentence {
  let report: NightReport
  let problems: [NightProblem]

  private var totals: NightTotals { report.totals }

  /// Number of captures that need attention.
  var needed: Int { totals.needed }

  /// `41 of 44 captures are ready. 2 need you, 1 is still arriving.`
  var text: String {
    let urgent = problems.filter(\.isUrgent).map(\.title)
    let sentence = totals.sentence(nothingUrgent: urgent.isEmpty)
    return ([sentence] + urgent.map { $0 + "." }).joined(separator: " ")
  }

  /// `2 need you · scanmill night 20 Nov`.
  var title: String {
    let state: String
    if needed > 0 {
      state = Plural.text(needed, "needs you", "need you")
    } else if let problem = problems.first(where: \.isUrgent) {
      state = problem.title
    } else if totals.unrecognized > 0 {
      state = "\(totals.unrecognized) not recognized"
    } else {
      state = "\(totals.ready) of \(totals.captures) ready"
    }
    return "\(state) · scanmill night \(LocalTime(report.from)?.day ?? report.from)"
  }

  /// Whether the page must show that something needs attention.
  var needsPerson: Bool {
    needed > 0 || totals.unrecognized > 0 || problems.contains(where: \.isUrgent)
  }

  /// The icon: a square with the number of captures that need attention, a circle if there are
  /// none.
  var icon: PictureData {
    let isWaiting = totals.ready < totals.captures
    let ground =
      needsPerson
      ? Markup.element(
        .rect, Attribute("width", 32), Attribute("height", 32), Attribute("rx", 4),
        Attribute("fill", "#b34700"))
      : Markup.element(
        .circle, Attribute("cx", 16), Attribute("cy", 16), Attribute("r", 16),
        Attribute("fill", isWaiting ? "#5d646c" : "#0072b2"))
    let sign =
      needsPerson
      ? (needed == 0 ? "!" : needed > 99 ? "99+" : "\(needed)") : isWaiting ? "…" : "✓"
    let drawing = Markup.element(
      .svg, Attribute("xmlns", "http://www.w3.org/2000/svg"), Attribute("viewBox", "0 0 32 32")
    ) {
      ground
      Markup.element(
        .text, Attribute("x", 16), Attribute("y", 23), Attribute("text-anchor", "middle"),
        Attribute("font-family", "sans-serif"), Attribute("font-weight", "bold"),
        Attribute("font-size", sign.count > 2 ? 15 : 20), Attribute("fill", "#fff")
      ) { sign }
    }
    return PictureData(.svg, drawing.bytes)
  }

  /// The occurring states, completed ones first, those that need attention last.
  var shares: [(state: String, words: String, count: Int)] {
    [
      ("done", "done", totals.done),
      ("done-with-warnings", "done with warnings", totals.doneWithWarnings),
      ("running", "running", totals.running), ("queued", "queued", totals.queued),
      ("interrupted", "interrupted", totals.interrupted),
      ("skipped", "skipped", totals.skipped), ("arriving", "arriving", totals.arriving),
      ("stalled-upload", "stalled", totals.stalledUpload),
      ("incomplete", "incomplete", totals.incomplete), ("failed", "failed", totals.failed),
      ("quarantined", "quarantined", totals.quarantined),
    ].filter { $0.2 > 0 }
  }
}

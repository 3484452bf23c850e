import Core
import Engine

/// The top of the page: sentence, bar and details.
struct NightHeader {
  let report: NightReport
  let sentence: NightSentence
  let problems: [NightProblem]
  var isKept = false

  var markup: Markup {
    .element(.header) {
      Markup.element(.h1) { sentence.text }
      Markup.element(.p, .id("said"), .classes("notice"), Attribute(flag: "hidden"))
      PageAge(report: report, isKept: isKept).markup
      if !isKept, let words = report.forecast?.words(now: now) {
        Markup.element(.p, .id("forecast")) { Markup.element(.strong) { words } }
      }
      if report.totals.captures > 0 {
        bar
        legend
      }
      Markup.element(.p, .classes("small")) { smallPrint }
      for problem in problems where !problem.isUrgent {
        Markup.element(.p, .classes("notice")) {
          Markup.element(.strong) { problem.title + ". " }
          Markup.element(.bdi) {
            [problem.words, problem.remedy].filter { !$0.isEmpty }.joined(separator: " ")
          }
        }
      }
    }
  }

  /// When the page was made, nanoseconds since 1970.
  private var now: Int64 { Int64((LocalTime(report.made)?.seconds ?? 0) * 1e9) }

  /// The bar of states. Every occurring state is visible, however small its share.
  private var bar: Markup {
    let shares = sentence.shares
    let least = 1.5
    let raw = shares.map {
      max(least, 100 * Double($0.count) / Double(max(report.totals.captures, 1)))
    }
    let sum = raw.reduce(0, +)
    var left = 0.0
    var parts = Markup.nothing
    for (share, size) in zip(shares, raw) {
      let width = size * 100 / sum
      let tone = PlotTone(state: share.state)
      parts.append(tone.bar(x: left, width: width, y: "0", height: "100%"))
      left += width
    }
    let words = shares.map { "\($0.count) \($0.words)" }
    return .element(
      .svg, .classes("bar"), Attribute("width", "100%"), Attribute("height", 24),
      Attribute("role", "img"),
      .label(
        "\(Phrasing.count(report.totals.captures, "capture")): \(words.joined(separator: ", "))")
    ) { parts }
  }

  private var legend: Markup {
    .element(.ul, .classes("legend")) {
      for share in sentence.shares {
        Markup.element(.li, Attribute("data-state", share.state)) {
          Markup.element(.span, .classes("state")) { "\(share.count) \(share.words)" }
        }
      }
    }
  }

  private var smallPrint: Markup {
    let from = LocalTime(report.from)
    let to = LocalTime(report.to)
    let hours = from.flatMap { from in to.map { $0.seconds - from.seconds } }
    return AttentionSection.dotted(
      [
        Markup(
          text:
            "\(from?.text ?? report.from) to \(to?.text ?? report.to)\(hours.map { ", \(Phrasing.age($0))" } ?? "")"
        ),
        Markup.name(report.host),
        Markup(
          text:
            "scanmill \(report.program.version)\(report.program.commit.map { " (\($0.prefix(12)))" } ?? "")"
        ),
        Markup(text: "pipeline ") + .name(report.pipeline),
        to.map { Markup(text: "all times in \($0.zone)") } ?? .nothing,
      ].filter { $0 != .nothing })
  }
}

/// How a state is drawn: a fill, and a pattern so that it is distinguishable in gray.
enum PlotTone: String {
  case done, warning, waiting, failed, quarantined

  init(state: String) {
    switch state {
    case "done": self = .done
    case "done-with-warnings", "incomplete", "stalled-upload": self = .warning
    case "failed": self = .failed
    case "quarantined": self = .quarantined
    default: self = .waiting
    }
  }

  private var fill: Attribute {
    switch self {
    case .done: .classes("done")
    case .warning: .classes("warning")
    case .waiting: .classes("waiting")
    case .failed: .classes("failed")
    case .quarantined: .classes("quarantined")
    }
  }

  private var lines: StaticString? {
    switch self {
    case .done: nil
    case .warning: "url(#tone-warning)"
    case .waiting: "url(#tone-waiting)"
    case .failed: "url(#tone-failed)"
    case .quarantined: "url(#tone-quarantined)"
    }
  }

  /// A rectangle in percent of the width.
  func bar(x: Double, width: Double, y: String, height: String) -> Markup {
    let place = [
      Attribute("x", Phrasing.percent(x)), Attribute("width", Phrasing.percent(width)),
      Attribute("y", y), Attribute("height", height),
    ]
    let ground = Markup.element(.rect, place + [fill])
    guard let lines else { return ground }
    return ground + .element(.rect, place + [Attribute("fill", "\(lines)")])
  }

  /// The patterns, which a page contains once.
  static let patterns = Markup.element(
    .svg, .classes("patterns"), Attribute("width", 0), Attribute("height", 0),
    Attribute("aria-hidden", "true"), Attribute("focusable", "false")
  ) {
    Markup.element(.defs) {
      pattern("tone-failed", "M0 0L8 8M8 0L0 8")
      pattern("tone-warning", "M0 8L8 0")
      pattern("tone-waiting", "M2 2h1M6 6h1")
      pattern("tone-quarantined", "M0 4h8M4 0v8")
    }
  }

  private static func pattern(_ id: String, _ lines: String) -> Markup {
    .element(
      .pattern, .id(id), Attribute("width", 8), Attribute("height", 8),
      Attribute("patternUnits", "userSpaceOnUse")
    ) { Markup.element(.path, .classes("hatch"), Attribute("d", lines)) }
  }
}

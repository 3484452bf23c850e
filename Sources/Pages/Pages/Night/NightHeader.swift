import Core
import Engine

extension NightPage {
  /// The top of the page: sentence, bar and details.
  var header: Markup {
    Tag.header {
      Tag.h1 { sentence }
      Tag.p(.id("said"), .classes("notice"), Attribute(flag: "hidden"))
      age
      if !supplies.isKept, let words = report.forecast?.words(now: now) {
        Tag.p(.id("forecast")) { Tag.strong { words } }
      }
      if report.totals.captures > 0 {
        bar
        legend
      }
      Tag.p(.classes("small")) { smallPrint }
      for problem in problems where !problem.isUrgent {
        Tag.p(.classes("notice")) {
          Tag.strong { problem.title + ". " }
          Tag.bdi {
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
    let shares = shares
    let least = 1.5
    let raw = shares.map {
      max(least, 100 * Double($0.count) / Double(max(report.totals.captures, 1)))
    }
    let sum = raw.reduce(0, +)
    var left = 0.0
    var parts = Markup.nothing
    for (share, size) in zip(shares, raw) {
      let width = size * 100 / sum
      parts.append(share.color.bar(x: left, width: width, y: "0", height: "100%"))
      left += width
    }
    let words = shares.map { "\($0.count) \($0.words)" }
    return Tag.svg(
      .classes("bar"), Attribute("width", "100%"), Attribute("height", 24),
      Attribute("role", "img"),
      .label(
        "\(FigureText.counted(report.totals.captures, "capture")): \(words.joined(separator: ", "))"
      )
    ) { parts }
  }

  private var legend: Markup {
    Tag.ul(.classes("legend")) {
      for share in shares {
        Tag.li(Attribute("data-state", share.color.rawValue)) {
          Tag.span(.classes("state")) { "\(share.count) \(share.words)" }
        }
      }
    }
  }

  private var smallPrint: Markup {
    let from = LocalTime(report.from)
    let to = LocalTime(report.to)
    let hours = from.flatMap { from in to.map { $0.seconds - from.seconds } }
    return Markup.dotted(
      [
        Markup(
          text:
            "\(from?.text ?? report.from) to \(to?.text ?? report.to)\(hours.map { ", \(FigureText.age($0))" } ?? "")"
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
extension CaptureState.Color {
  /// A rectangle in percent of the width.
  func bar(x: Double, width: Double, y: String, height: String) -> Markup {
    let place = [
      Attribute("x", FigureText.place(x)), Attribute("width", FigureText.place(width)),
      Attribute("y", y), Attribute("height", height),
    ]
    let ground = Tag.rect(place + [Attribute("class", rawValue)])
    return self == .done
      ? ground : ground + Tag.rect(place + [Attribute("fill", "url(#tone-\(rawValue))")])
  }

  /// The patterns, which a page contains once.
  static let patterns = Tag.svg(
    .classes("patterns"), Attribute("width", 0), Attribute("height", 0),
    Attribute("aria-hidden", "true"), Attribute("focusable", "false")
  ) {
    Tag.defs {
      pattern("tone-failed", "M0 0L8 8M8 0L0 8")
      pattern("tone-warning", "M0 8L8 0")
      pattern("tone-waiting", "M2 2h1M6 6h1")
      pattern("tone-quarantined", "M0 4h8M4 0v8")
    }
  }

  private static func pattern(_ id: String, _ lines: String) -> Markup {
    Tag.pattern(
      .id(id), Attribute("width", 8), Attribute("height", 8),
      Attribute("patternUnits", "userSpaceOnUse")
    ) { Tag.path(.classes("hatch"), Attribute("d", lines)) }
  }
}

extension NightPage {
  /// Seconds after which the watcher has written the page again; `nil`: the page is not renewed.
  private var interval: Int? { supplies.isKept ? nil : report.watch?.renewsPageSeconds }

  /// When the page was made, and when the next one is due. The script of the page counts its age, and says
  /// after twice the interval without a new page; without scripts the time of the page is shown as it is.
  private var age: Markup {
    let made = LocalTime(report.made)
    var attributes = [
      Attribute.id("age"), .classes("small"), Attribute("data-made", report.made),
      Attribute("data-made-text", made?.text ?? report.made),
    ]
    if let interval { attributes.append(Attribute("data-interval", interval)) }
    return Tag.p(attributes) {
      "Made "
      Tag.time(Attribute("datetime", report.made)) { made?.text ?? report.made }
      Tag.span(.id("page-age"))
      ". "
      renewal
    }
  }

  private var renewal: String {
    if supplies.isKept { return "The page of an earlier night, as it was last written." }
    if let interval {
      let often = interval < 60 ? "\(interval) s" : FigureText.age(Double(interval))
      return "The watcher writes it again at least every \(often)."
    }
    if let ended = report.watch?.ended {
      let time = LocalTime.text(ended, near: LocalTime(report.made))
      return "The watcher ended at \(time): nothing renews this page until it starts again."
    }
    return "A single report: nothing renews this page."
  }
}

/// The first sentence of the page: whether everything arrived, whether everything is done, and how
/// many captures need attention.
extension NightPage {
  private var totals: NightTotals { report.totals }

  /// Number of captures that need attention.
  private var needed: Int { totals.needsPerson }

  /// `41 of 44 captures are ready. 2 need you, 1 is still arriving.`
  private var sentence: String {
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
      ? Tag.rect(
        Attribute("width", 32), Attribute("height", 32), Attribute("rx", 4),
        Attribute("fill", "#b34700"))
      : Tag.circle(
        Attribute("cx", 16), Attribute("cy", 16), Attribute("r", 16),
        Attribute("fill", isWaiting ? "#5d646c" : "#0072b2"))
    let sign =
      needsPerson
      ? (needed == 0 ? "!" : needed > 99 ? "99+" : "\(needed)") : isWaiting ? "…" : "✓"
    let drawing = Tag.svg(
      Attribute("xmlns", "http://www.w3.org/2000/svg"), Attribute("viewBox", "0 0 32 32")
    ) {
      ground
      Tag.text(
        Attribute("x", 16), Attribute("y", 23), Attribute("text-anchor", "middle"),
        Attribute("font-family", "sans-serif"), Attribute("font-weight", "bold"),
        Attribute("font-size", sign.count > 2 ? 15 : 20), Attribute("fill", "#fff")
      ) { sign }
    }
    return PictureData(.svg, drawing.bytes)
  }

  /// The parts of the whole that occur, ready ones first.
  private var shares: [(color: CaptureState.Color, words: String, count: Int)] {
    totals.parts.map { part in
      (
        part.key == "ready" ? .done : part.key == "needsPerson" ? .failed : .waiting, part.words,
        part.count
      )
    }
  }
}

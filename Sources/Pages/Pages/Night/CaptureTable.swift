import Core
import Captures
import Engine

/// The table of all captures, in the order of the JSON.
extension NightPage {
  /// Number of captures above which ids are shortened for display.
  private static let mostInFull = 2_000

  /// Number of captures above which rows outside the screen are not laid out.
  private static let many = 300

  private static let columns = [
    "State", "Capture", "Scene", "Device", "Frames", "Warnings", "Duration",
  ]
  /// A further column, if any capture has a verdict.
  private static let verdictColumn = "Quality"

  /// Whether any capture has a verdict on its quality.
  var hasVerdicts: Bool { report.captures.contains { $0.quality != nil } }

  /// Columns that contain numbers.
  private static let numbers: Set<Int> = [4, 5, 6]

  /// The value of `data-also` for captures that need attention.
  private static let needsYou = "needs-you"

  private static let warned = "warned"

  /// States with a filter of their own; the values of `data-state` and `data-also` that each
  /// covers.
  private static let filters: [(words: String, states: [String])] = [
    ("Needs you", [needsYou]), ("Done", [CaptureState.done.rawValue]),
    ("With warnings", [warned]),
    ("Waiting", [CaptureState.arriving, .queued, .running].map(\.rawValue)),
  ]

  private static func values(of capture: CaptureRow) -> [String] {
    [capture.state.rawValue] + also(capture)
  }

  private static func also(_ capture: CaptureRow) -> [String] {
    (capture.needsPerson ? [needsYou] : []) + (capture.warnings.counted.isNone ? [] : [warned])
  }

  var capturesSection: Markup {
    let captures = report.captures
    let hasVerdicts = hasVerdicts
    let inFull = captures.count <= Self.mostInFull
    return Tag.section(Attribute("aria-labelledby", "captures-title")) {
      Tag.h2(.id("captures-title")) { "All captures" }
      if captures.isEmpty {
        Tag.p { "There are no captures." }
      } else {
        controls
      }
      Tag.table(
        .id("captures"),
        Attribute(
          "class",
          (["data"] + (captures.count > Self.many ? ["many"] : [])
            + (hasVerdicts ? ["judged"] : []))
            .joined(separator: " "))
      ) {
        Tag.caption {
          "\(FigureText.counted(captures.count, "capture")), those that need you first"
        }
        Tag.thead {
          Tag.tr {
            for (index, name)
              in (Self.columns + (hasVerdicts ? [Self.verdictColumn] : [])).enumerated()
            {
              Tag.th(
                [Attribute("scope", "col")] + (Self.numbers.contains(index) ? [.classes("n")] : [])
              ) {
                Tag.button(Attribute("type", "button")) { name }
              }
            }
          }
        }
        Tag.tbody { for capture in captures { row(capture, inFull, hasVerdicts) } }
      }
    }
  }

  /// Displayed by the script; hidden without it.
  private var controls: Markup {
    Tag.div(.classes("controls"), Attribute(flag: "hidden")) {
      Tag.p {
        Tag.label(Attribute("for", "filter")) { "Search " }
        Tag.input(
          .id("filter"), Attribute("type", "search"), Attribute("data-filter", "text"),
          Attribute("autocomplete", "off"))
      }
      Tag.div(
        .classes("choices"), Attribute("role", "group"), .label("Captures by state")
      ) {
        choice("All", [], report.captures.count, isChosen: true)
        for filter in Self.filters {
          let count = report.captures.count { capture in
            Self.values(of: capture).contains(where: filter.states.contains)
          }
          if count > 0 { choice(filter.words, filter.states, count, isChosen: false) }
        }
      }
      Tag.p(.id("shown"), .classes("small")) {
        "\(report.captures.count) of \(FigureText.counted(report.captures.count, "capture")) shown"
      }
    }
  }

  private func choice(_ words: String, _ states: [String], _ count: Int, isChosen: Bool)
    -> Markup
  {
    Tag.button(
      Attribute("type", "button"), Attribute("aria-pressed", isChosen ? "true" : "false"),
      Attribute("data-filter-state", states.joined(separator: " "))
    ) {
      "\(words) "
      Tag.span(.classes("count")) { "\(count)" }
    }
  }

  // MARK: A row

  private func row(_ capture: CaptureRow, _ inFull: Bool, _ hasVerdicts: Bool) -> Markup {
    let warnings = capture.warnings.counted
    let words = Self.also(capture)
    let also = words.isEmpty ? [] : [Attribute("data-also", words.joined(separator: " "))]
    return Tag.tr(
      [Attribute("data-id", capture.id), Attribute("data-state", capture.state.rawValue)] + also
    ) {
      Tag.td(Attribute("data-value", Self.rank(capture))) { stateWords(capture) }
      Tag.td {
        if let picture = supplies.thumbnail(capture) { picture.element(named: "first picture") }
        names.link(capture, inFull: inFull)
        if let twin = capture.twinOf {
          Tag.p(.classes("small")) { "same id as \(FigureText.cut(twin, 200))" }
        }
      }
      text(capture.scene)
      text(capture.device)
      number(capture.frames)
      if warnings.isNone {
        number(capture.outcome == nil && capture.state != .done ? nil : 0)
      } else {
        Tag.td(Attribute("data-value", warnings.occurrences)) { warnings.words }
      }
      duration(capture.seconds)
      if hasVerdicts { verdict(capture.quality) }
    }
  }

  /// Sort order: captures that need attention come first.
  private static func rank(_ capture: CaptureRow) -> Int {
    let order: [CaptureState?] = [
      .quarantined, .failed, .incomplete, .stalledUpload, nil, .arriving, .queued, .running, .done,
    ]
    if capture.mark?.isCurrent == true { return order.firstIndex(of: .arriving) ?? order.count }
    let isLacking = capture.state == .done && capture.needsPerson
    return order.firstIndex(of: isLacking ? nil : capture.state) ?? order.count
  }

  private func stateWords(_ capture: CaptureRow) -> String {
    if let mark = capture.mark, mark.isCurrent {
      return "\(capture.state.words), marked \(mark.mark.rawValue)"
    }
    if capture.gone, capture.state == .failed { return "failed, gone" }
    if let what = capture.waitsFor, capture.state == .queued {
      return "queued, waits for \(what)"
        + (capture.neededBytes.map { " (about \(ByteCount.text($0)))" } ?? "")
    }
    if capture.state == .incomplete, !capture.missing.isEmpty {
      let most = 3
      let names = capture.missing.prefix(most).map { FigureText.cut($0, 40) }.joined(separator: " ")
      let more = capture.missing.count > most ? " and \(capture.missing.count - most) more" : ""
      return "\(capture.state.words), waits for \(names)\(more)"
    }
    if let worst = capture.shortfalls.max(by: { $0.lostPercent < $1.lostPercent }) {
      return "\(capture.state.words), \(worst.lossWords)"
    }
    let isStale = capture.reasons.contains { $0.code == .stale }
    return capture.stateWords
      + (capture.missing.isEmpty ? isStale ? ", not up to date" : "" : ", files are missing")
  }

  private func text(_ text: String?) -> Markup {
    guard let text, !text.isEmpty else { return Tag.td() }
    return Tag.td { Markup.name(FigureText.cut(text, 60)) }
  }

  private func number(_ value: Int?) -> Markup {
    guard let value else { return Tag.td() }
    let text = NumberText.grouped(value)
    return text == "\(value)"
      ? Tag.td { text }
      : Tag.td(Attribute("data-value", value)) { text }
  }

  private func verdict(_ quality: CaptureQuality?) -> Markup {
    guard let quality else { return Tag.td() }
    return Tag.td(
      Attribute("data-value", quality.verdict.rank),
      Attribute("data-quality", quality.verdict.rawValue)
    ) { quality.text }
  }

  private func duration(_ seconds: Double?) -> Markup {
    guard let seconds, seconds.isFinite else { return Tag.td() }
    return Tag.td(Attribute("data-value", FigureText.decimal(seconds))) {
      DurationText.measured(seconds)
    }
  }
}

import Core
import Engine

/// What is different from the night before, and the pages of earlier nights.
struct HistorySection {
  let report: NightReport
  let names: PageNames
  let supplies: PageSupplies

  private static let mostNamed = 40

  var markup: Markup {
    let links = links
    guard report.changes != nil || links != .nothing else { return .nothing }
    return .element(.section, .id("history"), Attribute("aria-labelledby", "history-title")) {
      Markup.element(.h2, .id("history-title")) {
        report.changes == nil ? "Other nights" : "Since the night before"
      }
      if let changes = report.changes { self.changes(changes) }
      links
    }
  }

  @MarkupBuilder private func changes(_ changes: NightChanges) -> Markup {
    let day = CalendarDay(changes.date)?.text ?? changes.date
    Markup.element(.p) {
      "\(Phrasing.count(changes.received, "new capture")); \(NumberText.grouped(changes.receivedBefore)) on the night of \(day)."
    }
    let lists = [
      ("Needs you now and did not then", changes.newlyNeeding),
      ("Still needs you", changes.stillNeeding), ("Repaired", changes.repaired),
    ].filter { !$0.1.isEmpty }
    if lists.isEmpty { Markup.element(.p) { "Nothing broke, and nothing was left to repair." } }
    for (words, ids) in lists {
      Markup.element(.p) {
        Markup.element(.strong) { "\(words) (\(NumberText.grouped(ids.count))): " }
        for (index, id) in ids.prefix(Self.mostNamed).enumerated() {
          if index > 0 { ", " }
          name(id)
        }
        if ids.count > Self.mostNamed { ", and \(ids.count - Self.mostNamed) more" }
      }
    }
  }

  /// The name of a capture, with a link if this report lists it.
  private func name(_ id: String) -> Markup {
    byID[id].map { names.link($0) } ?? .name(Phrasing.cut(id, 60))
  }

  private var byID: [String: NightCapture] {
    let wanted = Set(
      (report.changes.map { $0.newlyNeeding + $0.stillNeeding + $0.repaired } ?? []))
    return Dictionary(
      report.captures.filter { wanted.contains($0.id) }.map { ($0.id, $0) },
      uniquingKeysWith: { first, _ in first })
  }

  /// To the kept pages of earlier nights, and from one of them to the current page.
  private var links: Markup {
    guard supplies.isKept || !supplies.keptNights.isEmpty else { return .nothing }
    return .element(.nav, .id("nights"), .label("Pages of other nights")) {
      if supplies.isKept {
        Markup.element(.p) {
          Markup.element(.a, .link(.file(["..", "index.html"]))) { "The current page" }
        }
        KeptNights.nextPlace
      }
      if !supplies.keptNights.isEmpty {
        Markup.element(.details) {
          Markup.element(.summary) {
            "Pages of \(Phrasing.count(supplies.keptNights.count, "earlier night"))"
          }
          Markup.element(.ul) {
            for date in supplies.keptNights {
              Markup.element(.li) {
                Markup.element(
                  .a, .link(.file((supplies.isKept ? [] : ["nights"]) + ["\(date).html"]))
                ) { date }
              }
            }
          }
        }
      }
    }
  }
}

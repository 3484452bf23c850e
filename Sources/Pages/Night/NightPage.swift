import Core
import Engine

/// The page of the night, `index.html`. It begins with whether everything arrived, whether
/// everything is done, and what needs attention; details follow.
struct NightPage: Sendable {
  let report: NightReport
  let supplies: PageSupplies

  /// Size limit of a page; thumbnails are left out above it.
  static let mostBytes = 2_900_000
  static let mostThumbnailBytes = 1_000_000

  init(_ report: NightReport) { self.init(report, PageSupplies()) }

  init(_ report: NightReport, _ supplies: PageSupplies) {
    self.report = report
    self.supplies = supplies
  }

  /// Captures in the order in which they get thumbnails: those that need attention, then the
  /// newest.
  static func thumbnailOrder(_ report: NightReport) -> [NightCapture] {
    func time(_ capture: NightCapture) -> String { capture.lastRun ?? capture.recordedAt ?? "" }
    let others = report.captures.filter { !$0.needsPerson }
    // Moving captures costs much more than comparing their times.
    let times = others.map(time)
    return report.captures.filter(\.needsPerson)
      + times.indices.sorted { times[$0] > times[$1] }.map { others[$0] }
  }

  /// The page in UTF-8. Cost: proportional to the number of captures; the page is in memory.
  func document() -> [UInt8] {
    var shown = supplies
    shown.thumbnails = [:]
    let plain = document(shown)
    if supplies.thumbnails.isEmpty { return plain }
    var remainingBytes = min(Self.mostThumbnailBytes, Self.mostBytes - plain.count)
    var chosen: [String: PageThumbnail] = [:]
    for capture in Self.thumbnailOrder(report) {
      guard let picture = supplies.thumbnails[capture.id] else { continue }
      // Captures that need attention appear in a card and in the table, poor ones in a list as well.
      let places = 1 + (capture.needsPerson ? 1 : 0) + (capture.isPoor ? 1 : 0)
      let bytes = (picture.pageBytes + 120) * places
      guard bytes <= remainingBytes else { break }
      remainingBytes -= bytes
      chosen[capture.id] = picture
    }
    shown.thumbnails = chosen
    return document(shown)
  }

  private func document(_ supplies: PageSupplies) -> [UInt8] {
    let names = PageNames(report, above: supplies.isKept ? [".."] : [])
    let problems = NightProblem.all(report)
    let sentence = NightSentence(report: report, problems: problems)
    let activity = NightActivity(report)
    let table = CaptureTable(report: report, names: names)
    return Markup.document(
      head: .element(.title) { sentence.title }
        + .element(.link, Attribute("rel", "icon"), .icon(sentence.icon)),
      style: table.hasVerdicts ? .judgedNight : .common, script: .common,
      body: .element(.main) {
        NightHeader(
          report: report, sentence: sentence, problems: problems, isKept: supplies.isKept
        ).markup
        PlotTone.patterns
        AttentionSection(report: report, problems: problems, names: names, supplies: supplies)
          .markup(sentence)
        PoorSection(report: report, names: names, supplies: supplies).markup
        MarksSection(report: report, names: names).markup
        NightTotalsSection(totals: report.totals).markup
        HistorySection(report: report, names: names, supplies: supplies).markup
        NightsSection(report: report, activity: activity).markup
        DevicesSection(report: report, names: names).markup
        AttemptsSection(report: report, names: names).markup
        TimelineSection(report: report, activity: activity).markup
        ResourcesSection(report: report, activity: activity, names: names).markup
        table.section(rows: table.rows(supplies))
        Markup.element(
          .p, .id("announcement"), .classes("only-for-readers"), Attribute("aria-live", "polite"))
      })
  }
}

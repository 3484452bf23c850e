import Output

/// The page of the night, `index.html`: is everything in, is everything done, whom to call. Below that what
/// somebody wants to know who has more than five seconds.
public struct NightPage: Sendable {
  let report: NightReport
  let supplies: PageSupplies

  /// Thumbnails give way, however large the rest is: a page is at most 3 MB.
  static let mostBytes = 2_900_000
  static let mostThumbnailBytes = 1_000_000

  public init(_ report: NightReport) { self.init(report, PageSupplies()) }

  init(_ report: NightReport, _ supplies: PageSupplies) {
    self.report = report
    self.supplies = supplies
  }

  /// Captures in the order in which they get thumbnails: those that need a person, then the newest.
  static func thumbnailOrder(_ report: NightReport) -> [NightCapture] {
    func time(_ capture: NightCapture) -> String { capture.lastRun ?? capture.recordedAt ?? "" }
    return report.captures.filter(\.needsPerson)
      + report.captures.filter { !$0.needsPerson }.sorted { time($0) > time($1) }
  }

  /// UTF-8. Cost: proportional to the captures; the page is held in memory.
  public func document() -> [UInt8] {
    let plain = document(PageSupplies(log: supplies.log))
    if supplies.thumbnails.isEmpty { return plain }
    var room = min(Self.mostThumbnailBytes, Self.mostBytes - plain.count)
    var chosen: [String: PageThumbnail] = [:]
    for capture in Self.thumbnailOrder(report) {
      guard let picture = supplies.thumbnails[capture.id] else { continue }
      // Those that need somebody stand in a card and in the table.
      let bytes = (picture.pageBytes + 120) * (capture.needsPerson ? 2 : 1)
      guard bytes <= room else { break }
      room -= bytes
      chosen[capture.id] = picture
    }
    return document(PageSupplies(thumbnails: chosen, log: supplies.log))
  }

  private func document(_ supplies: PageSupplies) -> [UInt8] {
    let names = PageNames(report)
    let troubles = NightProblem.all(report)
    let sentence = NightSentence(report: report, troubles: troubles)
    let activity = NightActivity(report)
    let table = CaptureTable(report: report, names: names)
    return Markup.document(
      head: .element(.title) { sentence.title }
        + .element(.link, Attribute("rel", "icon"), .icon(sentence.icon)),
      style: .common, script: .common,
      body: .element(.main) {
        NightHead(report: report, sentence: sentence, troubles: troubles).markup
        PlotTone.patterns
        AttentionSection(report: report, troubles: troubles, names: names, supplies: supplies)
          .markup(sentence)
        NightTotalsSection(totals: report.totals).markup
        NightsSection(report: report, activity: activity).markup
        DevicesSection(report: report).markup
        TimelineSection(report: report, activity: activity).markup
        ResourcesSection(report: report, activity: activity, names: names).markup
        table.section(rows: table.rows(supplies))
        Markup.element(
          .p, .id("announcement"), .classes("only-for-readers"), Attribute("aria-live", "polite"))
      })
  }
}

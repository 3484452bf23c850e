import Captures
import Core
import Engine

/// The page of the night, `index.html`. It begins with whether everything arrived, whether
/// everything is done, and what needs attention; details follow. Each section is a function of it.
struct NightPage {
  let report: NightReport
  private(set) var supplies: PageSupplies
  let names: PageNames
  let problems: [NightProblem]
  let activity: NightActivity

  init(report: NightReport, supplies: PageSupplies = PageSupplies()) {
    (self.report, self.supplies) = (report, supplies)
    names = PageNames(report, above: supplies.isKept ? [".."] : [])
    problems = NightProblem.all(report)
    activity = NightActivity(report)
  }

  /// Size limit of a page; thumbnails are left out above it.
  static let mostBytes = 2_900_000
  static let mostThumbnailBytes = 1_000_000

  /// Captures in the order in which they get thumbnails: those that need attention, then the
  /// newest.
  static func thumbnailOrder(_ report: NightReport) -> [CaptureRow] {
    func time(_ capture: CaptureRow) -> String { capture.lastRun ?? capture.recordedAt ?? "" }
    let others = report.captures.filter { !$0.needsPerson }
    // Moving captures costs much more than comparing their times.
    let times = others.map(time)
    return report.captures.filter(\.needsPerson)
      + times.indices.sorted { times[$0] > times[$1] }.map { others[$0] }
  }

  /// The page in UTF-8. Cost: proportional to the number of captures; the page is in memory.
  func document() -> [UInt8] {
    var shown = self
    shown.supplies.thumbnails = [:]
    let plain = shown.markup()
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
    shown.supplies.thumbnails = chosen
    return shown.markup()
  }

  private func markup() -> [UInt8] {
    return Markup.document(
      head: Tag.title { title }
        + Tag.link(Attribute("rel", "icon"), .icon(icon)),
      style: hasVerdicts ? .judgedNight : .common, script: .common,
      body: Tag.main {
        header
        CaptureState.Color.patterns
        totalsSection
        attentionSection
        poorSection
        capturesSection
        marksSection
        historySection
        nightsSection
        devicesSection
        attemptsSection
        timelineSection
        resourcesSection
        Tag.p(.id("announcement"), .classes("only-for-readers"), Attribute("aria-live", "polite"))
      })
  }
}

extension NightPage {
  /// Captures of poor quality, with the reasons: they were processed, and whoever uses them has to look first. Empty if
  /// no capture was judged to be poor, or a person has marked those that were.
  private var poorSection: Markup {
    let poor = report.captures.filter(\.isPoor)
    guard !poor.isEmpty else { return .nothing }
    return Tag.section(.id("poor"), Attribute("aria-labelledby", "poor-title")) {
      Tag.h2(.id("poor-title")) { "Poor: look before you use" }
      list(
        poor, inFull: 50, Attribute("data-quality", CaptureQuality.Level.poor.rawValue)
      ) { capture in
        (capture.quality?.reasons ?? []).prefix(6).map { reason in
          Tag.bdi { FigureText.cut(reason, 300) }
        }
      }
      Tag.p(.classes("small")) {
        "What was judged, and the limits: "
        Tag.code { "scanmill list quality" }
        ". A capture that is good enough: "
        Tag.code { "scanmill mark done-as-is CAPTURE" }
        "."
      }
    }
  }
}

extension NightPage {
  /// Where these are 0, the numbers are there for scripts only.
  private static let hiddenAtZero: Set<String> = [
    "arriving", "running", "queued", "interrupted", "skipped", "marked", "unrecognized",
  ]

  /// Key in the JSON, text, value in the JSON, and value as text.
  private var entries: [(key: String, words: String, value: String, said: String?)] {
    let totals = report.totals
    func count(_ key: String, _ words: String, _ value: Int) -> (String, String, String, String?) {
      (key, words, "\(value)", nil)
    }
    var entries = [
      count("captures", "Captures", totals.captures), count("ready", "Ready", totals.ready),
      count("needsPerson", "Need you", totals.needsPerson),
      count("arriving", "Arriving", totals.arriving), count("running", "Running", totals.running),
      count("queued", "Queued", totals.queued),
      count("interrupted", "Interrupted, of those that need you", totals.interrupted),
      count("skipped", "Skipped, of those that need you", totals.skipped),
      count("marked", "Marked", totals.marked),
      count("unrecognized", "Folders not recognized", totals.unrecognized),
    ]
    for (key, words, value) in [
      ("disappeared", "Disappeared", totals.disappeared), ("poor", "Poor quality", totals.poor),
    ] {
      if let value { entries.append(count(key, words, value)) }
    }
    entries += [
      (
        "frames", "Frames", "\(totals.frames)",
        totals.frames < 1000 ? nil : FigureText.count(totals.frames)
      ),
      ("bytes", "Written", "\(totals.bytes)", ByteCount.text(totals.bytes)),
    ]
    for (key, words, seconds) in [
      ("cpuSeconds", "CPU time of stages", totals.cpuSeconds),
      ("seconds", "Time of runs", totals.seconds),
    ] {
      guard let seconds else { continue }
      entries.append((key, words, FigureText.number(seconds), DurationText.measured(seconds)))
    }
    return entries
  }

  /// The totals of the night, as in the JSON. Numbers that are hard to read are there for scripts only; people see the
  /// words of `style` in their place.
  private var totalsSection: Markup {
    Tag.section(Attribute("aria-labelledby", "totals-title")) {
      Tag.h2(.id("totals-title")) { "Totals" }
      Tag.dl(.id("totals"), .classes("facts")) {
        for entry in entries {
          let hidden =
            entry.value == "0" && Self.hiddenAtZero.contains(entry.key)
            ? [Attribute(flag: "hidden")] : []
          Tag.dt(hidden) { entry.words }
          Tag.dd(hidden + [Attribute("data-total", entry.key)]) { entry.value }
          if let said = entry.said { Tag.dd(.classes("said")) { said } }
        }
      }
    }
  }
}

extension NightPage {
  private static let mostNamed = 40

  /// What is different from the night before, and the pages of earlier nights.
  private var historySection: Markup {
    let links = links
    guard report.changes != nil || links != .nothing else { return .nothing }
    return Tag.section(.id("history"), Attribute("aria-labelledby", "history-title")) {
      Tag.h2(.id("history-title")) {
        report.changes == nil ? "Other nights" : "Since the night before"
      }
      if let changes = report.changes { self.changes(changes) }
      links
    }
  }

  @MarkupBuilder private func changes(_ changes: NightChanges) -> Markup {
    let day = CalendarDay(changes.date)?.text ?? changes.date
    Tag.p {
      "\(FigureText.counted(changes.received, "new capture")); \(NumberText.grouped(changes.receivedBefore)) on the night of \(day)."
    }
    let lists = [
      ("Needs you now and did not then", changes.newlyNeeding),
      ("Still needs you", changes.stillNeeding), ("Repaired", changes.repaired),
    ].filter { !$0.1.isEmpty }
    if lists.isEmpty { Tag.p { "Nothing broke, and nothing was left to repair." } }
    for (words, ids) in lists {
      Tag.p {
        Tag.strong { "\(words) (\(NumberText.grouped(ids.count))): " }
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
    byID[id].map { names.link($0) } ?? .name(FigureText.cut(id, 60))
  }

  private var byID: [String: CaptureRow] {
    let wanted = Set(
      (report.changes.map { $0.newlyNeeding + $0.stillNeeding + $0.repaired } ?? []))
    return Dictionary(
      firstOf: report.captures.filter { wanted.contains($0.id) }.map { ($0.id, $0) })
  }

  /// To the kept pages of earlier nights, and from one of them to the current page.
  private var links: Markup {
    guard supplies.isKept || !supplies.keptNights.isEmpty else { return .nothing }
    return Tag.nav(.id("nights"), .label("Pages of other nights")) {
      if supplies.isKept {
        Tag.p {
          Tag.a(.link(.file(["..", "index.html"]))) { "The current page" }
        }
        KeptNights.nextPlace
      }
      if !supplies.keptNights.isEmpty {
        Tag.details {
          Tag.summary {
            "Pages of \(FigureText.counted(supplies.keptNights.count, "earlier night"))"
          }
          Tag.ul {
            for date in supplies.keptNights {
              Tag.li {
                Tag.a(
                  .link(.file((supplies.isKept ? [] : ["nights"]) + ["\(date).html"]))
                ) { date }
              }
            }
          }
        }
      }
    }
  }
}

extension NightPage {
  /// The section about the slowest captures, throughput, and remaining disk space.
  private var resourcesSection: Markup {
    Tag.section(Attribute("aria-labelledby", "work-title")) {
      Tag.h2(.id("work-title")) { "Speed and disk" }
      Tag.dl(.classes("facts")) {
        throughput
        disk
      }
      slowest
    }
  }

  private func fact(_ words: String, _ value: String) -> Markup {
    Tag.dt { words } + Tag.dd { value }
  }

  private var throughput: Markup? {
    let seconds = activity.busySeconds > 0 ? activity.busySeconds : report.totals.seconds ?? 0
    guard seconds > 0 else { return nil }
    let count = report.captures.count { $0.outcome != nil }
    var facts = fact("Work", DurationText.measured(seconds))
    if count > 0 {
      facts.append(
        fact(
          "Captures per hour", Self.rate(Double(count) * 3_600 / seconds)))
    }
    if report.totals.frames > 0 {
      facts.append(
        fact(
          "Frames per second",
          Self.rate(Double(report.totals.frames) / seconds)))
    }
    return facts
  }

  /// `7.1`, `1,583`: one decimal below 100, groups of three digits above.
  static func rate(_ value: Double) -> String {
    value < 99.95 ? NumberText.short(value) : NumberText.grouped(Int(min(value, 1e15).rounded()))
  }

  private var disk: Markup {
    let free = report.free
    let share = free.totalBytes.flatMap { total in
      total > 0
        ? " of \(ByteCount.text(total)) (\(FigureText.decimal((Double(free.bytes) / Double(total) * 100).rounded())) %)"
        : nil
    }
    var facts = fact("Free", ByteCount.text(free.bytes) + (share ?? ""))
    if let bytes = report.bytesPerNight, bytes < 9e18 {
      facts.append(fact("Written per night", ByteCount.text(Int64(bytes))))
    }
    facts.append(
      fact(
        "Full in",
        report.nightsUntilFull.map {
          $0 > 3_650 ? "more than ten years" : FigureText.counted(Int($0), "night")
        } ?? "not known: nothing was written"))
    return facts
  }

  private var slowest: Markup? {
    let timed = report.captures.filter { ($0.seconds ?? 0) > 0 }
    let slow = timed.sorted { ($0.seconds ?? 0) > ($1.seconds ?? 0) }.prefix(5)
    guard slow.count > 1 else { return nil }
    return Tag.table(.id("slowest"), .classes("narrow")) {
      Tag.caption { "Slowest captures" }
      Markup.head(["Capture", "Duration", "Frames"], numbers: 1)
      Tag.tbody {
        for capture in slow {
          Tag.tr {
            Tag.td { names.link(capture) }
            Tag.td(.classes("n")) { DurationText.measured(capture.seconds ?? 0) }
            Tag.td(.classes("n")) { capture.frames.map(NumberText.grouped) ?? "" }
          }
        }
      }
    }
  }
}

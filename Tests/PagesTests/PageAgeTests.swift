import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine
@testable import Pages

@Suite("The age of the page of the night, and ids on it", .runsPrograms)
struct PageAgeTests {
  private static func page(_ change: (inout NightReport) -> Void) -> String {
    var report = NightSamples.ordinary()
    report.made = report.to
    change(&report)
    return String(decoding: NightPage(report: report).document(), as: UTF8.self)
  }

  @Test("A page says when it was made, and the interval of the watcher that renews it")
  func renewed() {
    let page = Self.page { $0.watch?.renewsPageSeconds = 900 }
    #expect(page.contains("data-made=\"2026-11-21T06:00:00Z\""))
    #expect(page.contains("data-interval=\"900\""))
    #expect(page.contains("writes it again at least every 15 min"))
  }

  @Test("A page that nobody renews says so, and names no interval")
  func single() {
    let page = Self.page { _ in }
    #expect(page.contains("A single report: nothing renews this page."))
    #expect(!page.contains("data-interval=\""))
    let ended = Self.page { $0.watch?.ended = "2026-11-21T05:59:00Z" }
    #expect(ended.contains("The watcher ended at "))
  }

  @Test(
    "In a browser the age is counted, and after twice the interval the headline says so",
    .enabled(if: Browser.isPresent, "\(Browser.absence)"),
    arguments: [
      (30.0, 900, ", just now", false), (720, 900, ", 12 minutes ago", false),
      (1900, 900, ", 31 minutes ago", true), (345_600, 900, ", 4 days ago", true),
      (345_600, 0, ", 4 days ago", false), (7260, 900, ", 2 hours ago", true),
    ])
  func browser(age: Double, interval: Int, words: String, isOld: Bool) throws {
    let made = UTCText.text(
      nanoseconds: Int64((Date().timeIntervalSince1970 - age - 1) * 1_000_000_000))
    let page = Self.page { report in
      report.made = made
      if interval > 0 { report.watch?.renewsPageSeconds = interval }
    }
    let folder = try TemporaryFolder()
    let file = folder.path.appending("page.html")
    try file.write(page)
    let result = try Running(
      "/usr/bin/chromium",
      [
        "--headless=new", "--no-sandbox", "--disable-gpu",
        "--user-data-dir=\(folder.path.appending("profile"))", "--dump-dom", "file://\(file)",
      ]
    ).finish()
    let dom = result.output
    #expect(dom.contains("<span id=\"page-age\">\(words)</span>"), "\(result.status)")
    let headline = dom.firstMatch(of: /<h1>(.*?)<\/h1>/).map { String($0.1) } ?? ""
    #expect(headline.hasPrefix("Not updated since ") == isOld)
    #expect(headline.hasSuffix(": is the watcher running?") == isOld)
    #expect(dom.contains("It said then: 38 of 44") == isOld || !isOld)
  }

  @Test("Times are of one zone, with the day where it is another")
  func times() {
    let page = Self.page { report in
      report.captures[2].retryAt = "2026-11-21T08:10:30.123Z"
      report.captures[3].since = "2026-11-20T21:15:00.000Z"
    }
    let now = LocalTime("2026-11-21T06:00:00Z")
    let retry = LocalTime("2026-11-21T08:10:30Z")?.text(near: now) ?? ""
    let since = LocalTime("2026-11-20T21:15:00Z")?.text(near: now) ?? ""
    #expect(page.contains("tried again at \(retry)"))
    #expect(page.contains("since \(since)"))
    #expect(page.components(separatedBy: "all times in ").count == 2)
  }

  @Test("Ids that begin alike are told apart by what differs")
  func ids() {
    let ids = ["session_2026-03-14_10-22-33_kitchen", "session_2026-03-14_10-25-11_kitchen"]
    let short = MiddleShortIDs(ids)
    #expect(Set(ids.map { short[$0] }).count == ids.count)
    for id in ids {
      #expect(short[id].count < id.count && short[id].contains("…"))
      let parts = short.parts(id)
      #expect(parts.map { $0.head + $0.middle + $0.tail } == id)
    }
  }

  @Test("Ids that differ in the middle only stay apart; short ones are shown in full")
  func middle() {
    let end = "_the-same-end-of-all-of-them"
    let ids = (0..<200).map { "2026-11-20_capture-\($0)\(end)" } + ["kitchen", "b-1"]
    let short = MiddleShortIDs(ids)
    #expect(Set(ids.map { short[$0] }).count == ids.count)
    #expect(short["kitchen"] == "kitchen")
  }

  @Test("A kept page leads back and to the nights before it")
  func kept() throws {
    var supplies = PageSupplies()
    (supplies.isKept, supplies.keptNights) = (true, ["2026-11-19", "2026-11-18"])
    var report = NightSamples.ordinary()
    report.watch?.renewsPageSeconds = 900
    let page = String(
      decoding: NightPage(report: report, supplies: supplies).document(), as: UTF8.self)
    #expect(page.contains("href=\"./../index.html\""))
    #expect(page.contains("href=\"./2026-11-19.html\""))
    #expect(!page.contains("data-interval=\""))
    let first = try #require(report.captures.first { $0.page != nil })
    #expect(page.contains("href=\"./../\(first.id)/report.html\""))
    supplies.isKept = false
    let current = String(
      decoding: NightPage(report: report, supplies: supplies).document(), as: UTF8.self)
    #expect(current.contains("href=\"./nights/2026-11-19.html\""))
  }
}

@Suite("The quality of captures and devices on the page of the night")
struct NightQualityTests {
  private func page(_ report: NightReport) -> String {
    String(decoding: NightPage(report: report, supplies: PageSupplies()).document(), as: UTF8.self)
  }

  private static func quality(_ verdict: CaptureQuality.Level) -> CaptureQuality {
    CaptureQuality(
      verdict: verdict, reasons: verdict == .good ? [] : ["60 % of the pictures are blurred"],
      judged: ["blurred": .init(value: 0.6, level: verdict)])
  }

  /// Trends of one device, as the catalog makes them of its captures, oldest first.
  private static func trends(_ subject: String, _ values: [Double]) -> [QualityTrend] {
    QualityTrend.all(
      of: values.enumerated().map { number, value in
        QualityTrend.Sample(
          device: "ipad-03", family: "scannet", time: "2026-11-\(10 + number)T12:00:00Z",
          id: "c\(number)",
          quality: CaptureQuality(
            verdict: .good, reasons: [], judged: [subject: .init(value: value, level: .good)]))
      })
  }

  @Test(
    "A device whose depth has become worse is told at the top and in its row, with both numbers")
  func worse() throws {
    var report = NightSamples.allWell()
    let device = try #require(report.devices.firstIndex { $0.device == "ipad-03" })
    report.devices[device].quality = Self.trends(
      "depthDisagreement", [4, 4, 4, 4, 4, 9, 9, 10, 9, 9])
    let html = page(report)
    let words =
      "Depth differs from frame to frame by 9 ‰ in the last 5 captures, 4 ‰ in the 5 before"
    #expect(html.contains("The depth of ipad-03 has become worse"))
    #expect(html.contains("data-trend=\"depthDisagreement\" data-worse=\"true\""))
    // Once as a problem, once in the table of devices.
    #expect(html.ranges(of: words).count == 2)
    #expect(html.ranges(of: "Has become worse: ").count == 1)
  }

  @Test("One that is as before has its numbers in its row only, and no column is there without any")
  func steady() throws {
    var report = NightSamples.allWell()
    let device = try #require(report.devices.firstIndex { $0.device == "ipad-03" })
    #expect(!page(report).contains("data-trend"))
    #expect(!page(report).contains("data-label=\"Depth\""))
    report.devices[device].quality = Self.trends(
      "depthMissing", [0.2, 0.2, 0.2, 0.2, 0.2, 0.21, 0.2, 0.2, 0.2, 0.2])
    let html = page(report)
    #expect(html.contains("data-trend=\"depthMissing\" data-worse=\"false\""))
    #expect(
      html.contains("Of the depth 20 % is missing in the last 5 captures, 20 % in the 5 before"))
    #expect(!html.contains("become worse") && !html.contains("Has become worse"))
    // Every row has the column then.
    #expect(
      html.ranges(of: "data-label=\"Depth\"").count == report.devices.count)
  }

  @Test("Poor captures are listed with their reasons, many of them by name, marked ones not")
  func poor() throws {
    var report = NightSamples.allWell(60)
    for index in report.captures.indices {
      report.captures[index].quality = Self.quality(
        index < 53 ? .poor : index < 57 ? .usable : .good)
    }
    let html = page(report)
    let section = try #require(html.firstMatch(of: /<section id="poor".*?<\/section>/)).0
    #expect(section.ranges(of: "<li data-quality=\"poor\">").count == 50)
    #expect(section.contains("3 more captures") && section.contains("60 % of the pictures"))
    for (level, count) in [("poor", 53), ("usable", 4), ("good", 3)] {
      #expect(html.ranges(of: "data-quality=\"\(level)\">\(level)</td>").count == count)
    }
    for index in report.captures.indices { report.captures[index].quality = Self.quality(.usable) }
    #expect(!page(report).contains("id=\"poor\""))
    for index in report.captures.indices { report.captures[index].quality = nil }
    #expect(!page(report).contains("data-quality"))
  }
}

@testable import Captures
import Testing

@testable import Engine
@testable import Pages

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

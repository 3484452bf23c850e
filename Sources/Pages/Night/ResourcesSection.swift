import Core
import Engine

/// The section about the slowest captures, throughput, and remaining disk space.
struct ResourcesSection {
  let report: NightReport
  let activity: NightActivity
  let names: PageNames

  var markup: Markup {
    .element(.section, Attribute("aria-labelledby", "work-title")) {
      Markup.element(.h2, .id("work-title")) { "Speed and disk" }
      Markup.element(.dl, .classes("facts")) {
        throughput
        disk
      }
      slowest
    }
  }

  private func fact(_ words: String, _ value: String) -> Markup {
    .element(.dt) { words } + .element(.dd) { value }
  }

  private var throughput: Markup? {
    let seconds = activity.busySeconds > 0 ? activity.busySeconds : report.totals.wallSeconds
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
        ? " of \(ByteCount.text(total)) (\(Phrasing.decimal((Double(free.bytes) / Double(total) * 100).rounded())) %)"
        : nil
    }
    var facts = fact("Free", ByteCount.text(free.bytes) + (share ?? ""))
    let forecast = DiskForecast(report)
    if let bytes = forecast.bytesPerNight, bytes < 9e18 {
      facts.append(fact("Written per night", ByteCount.text(Int64(bytes))))
    }
    facts.append(
      fact(
        "Full in",
        forecast.nightsUntilFull.map {
          $0 > 3_650 ? "more than ten years" : Phrasing.count(Int($0), "night")
        } ?? "not known: nothing was written"))
    return facts
  }

  private var slowest: Markup? {
    let timed = report.captures.filter { ($0.seconds ?? 0) > 0 }
    let slow = timed.sorted { ($0.seconds ?? 0) > ($1.seconds ?? 0) }.prefix(5)
    guard slow.count > 1 else { return nil }
    return .element(.table, .id("slowest"), .classes("narrow")) {
      Markup.element(.caption) { "Slowest captures" }
      Markup.element(.thead) {
        Markup.element(.tr) {
          Markup.element(.th, Attribute("scope", "col")) { "Capture" }
          Markup.element(.th, Attribute("scope", "col"), .classes("n")) { "Duration" }
          Markup.element(.th, Attribute("scope", "col"), .classes("n")) { "Frames" }
        }
      }
      Markup.element(.tbody) {
        for capture in slow {
          Markup.element(.tr) {
            Markup.element(.td) { names.link(capture) }
            Markup.element(.td, .classes("n")) { DurationText.measured(capture.seconds ?? 0) }
            Markup.element(.td, .classes("n")) { capture.frames.map(NumberText.grouped) ?? "" }
          }
        }
      }
    }
  }
}

import Output

/// Lists every device with its last upload, and marks those without uploads for days.
struct DevicesSection {
  let report: NightReport

  private static let quiet = 36.0 * 3600
  private static let most = 100

  var markup: Markup {
    guard !report.devices.isEmpty else { return .nothing }
    let now = LocalTime(report.to)
    let shown = report.devices.prefix(Self.most)
    return .element(.section, Attribute("aria-labelledby", "devices-title")) {
      Markup.element(.h2, .id("devices-title")) { "Devices" }
      Markup.element(.table, .id("devices"), .classes("data")) {
        Markup.element(.caption) {
          "\(Phrasing.count(report.devices.count, "device")), by last upload"
            + (shown.count < report.devices.count ? "; the first \(shown.count)" : "")
        }
        Markup.element(.thead) {
          Markup.element(.tr) {
            for name in ["Device", "Last upload", "Captures"] {
              Markup.element(.th, Attribute("scope", "col")) { name }
            }
          }
        }
        Markup.element(.tbody) {
          for device in shown { row(device, now) }
        }
      }
    }
  }

  private func row(_ device: NightReport.Device, _ now: LocalTime?) -> Markup {
    let last = LocalTime(device.lastUpload)
    let age = last.flatMap { last in now.map { $0.seconds - last.seconds } }
    return .element(.tr) {
      Markup.element(.td, Attribute("data-label", "Device")) {
        Markup.name(Phrasing.cut(device.device, 80))
      }
      Markup.element(.td, Attribute("data-label", "Last upload")) {
        last?.text ?? device.lastUpload
        if let age, age > Self.quiet {
          " "
          Markup.element(.strong) { "quiet for \(Phrasing.age(age))" }
        }
      }
      Markup.element(.td, Attribute("data-label", "Captures")) { "\(device.captures)" }
    }
  }
}

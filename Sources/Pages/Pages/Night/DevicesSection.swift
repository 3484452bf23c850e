import Core
import Engine

extension NightPage {
  private static let quiet = 36.0 * 3600
  private static let most = 100

  /// Lists every device with its last upload and what of it may be deleted there, and marks those without uploads
  /// for days.
  var devicesSection: Markup {
    guard !report.devices.isEmpty else { return .nothing }
    let now = LocalTime(report.to)
    let shown = report.devices.prefix(Self.most)
    let hasTrends = shown.contains { $0.quality != nil }
    return Tag.section(Attribute("aria-labelledby", "devices-title")) {
      Tag.h2(.id("devices-title")) { "Devices" }
      Tag.table(.id("devices"), .classes("data")) {
        Tag.caption {
          "\(Phrasing.count(report.devices.count, "device")), by last upload"
            + (shown.count < report.devices.count ? "; the first \(shown.count)" : "")
        }
        Markup.head(
          ["Device", "Last upload", "Captures", "Files", "On the device"]
            + (hasTrends ? ["Depth over time"] : []))
        Tag.tbody {
          for device in shown { row(device, now, hasTrends) }
        }
      }
    }
  }

  private func row(_ device: NightReport.Device, _ now: LocalTime?, _ hasTrends: Bool) -> Markup {
    let last = LocalTime(device.lastUpload)
    let age = last.flatMap { last in now.map { $0.seconds - last.seconds } }
    return Tag.tr {
      Tag.td(Attribute("data-label", "Device")) {
        Markup.name(Phrasing.cut(device.device, 80))
      }
      Tag.td(Attribute("data-label", "Last upload")) {
        last?.text ?? device.lastUpload
        if let age, age > Self.quiet {
          " "
          Tag.strong { "quiet for \(Phrasing.age(age))" }
        }
      }
      Tag.td(Attribute("data-label", "Captures")) { "\(device.captures)" }
      Tag.td(Attribute("data-label", "Files")) {
        NumberText.grouped(device.receivedFiles)
          + (device.expectedFiles > device.receivedFiles
            ? " of \(NumberText.grouped(device.expectedFiles))" : "")
      }
      Tag.td(
        Attribute("data-label", "Delete"), Attribute("data-safe", device.safe)
      ) { custody(device) }
      if hasTrends { trends(device.quality ?? []) }
    }
  }

  private func trends(_ trends: [QualityTrend]) -> Markup {
    Tag.td(Attribute("data-label", "Depth")) {
      for trend in trends {
        Tag.p(
          Attribute("data-trend", trend.subject),
          Attribute("data-worse", trend.isWorse ? "true" : "false")
        ) {
          if trend.isWorse { Tag.strong { "Has become worse: " } }
          trend.words
        }
      }
    }
  }

  private static let mostNamed = 20

  @MarkupBuilder private func custody(_ device: NightReport.Device) -> Markup {
    if device.isSafe {
      Tag.span {
        device.captures == 1
          ? "Complete and verified: safe to delete"
          : "All \(NumberText.grouped(device.captures)): complete and verified, safe to delete"
      }
    } else if device.notSafe.count == device.captures,
      device.notSafe.allSatisfy({ $0.reasons == [Custody.notCompared] })
    {
      Tag.span {
        Custody.notCompared.prefix(1).uppercased() + Custody.notCompared.dropFirst()
      }
    } else {
      Tag.div {
        Tag.p {
          device.safe == 0
            ? "Keep: none is complete and verified"
            : "\(NumberText.grouped(device.safe)) of \(NumberText.grouped(device.captures)) are complete and verified"
        }
        Tag.details {
          Tag.summary {
            "Keep \(NumberText.grouped(device.captures - device.safe)), and why"
          }
          Tag.ul {
            for item in device.notSafe.prefix(Self.mostNamed) {
              Tag.li {
                names.shortened(item.id)
                ": "
                Tag.bdi { Phrasing.cut(item.reasons.joined(separator: "; "), 300) }
              }
            }
          }
          let more = device.captures - device.safe - min(device.notSafe.count, Self.mostNamed)
          if more > 0 { Tag.p { "and \(NumberText.grouped(more)) more" } }
        }
      }
    }
  }
}

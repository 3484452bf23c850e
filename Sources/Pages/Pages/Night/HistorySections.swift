import Core
import Engine

extension NightPage {
  private struct Slot {
    var day: String
    var isTonight: Bool
    /// `nil` if nothing ran.
    var night: NightReport.Night?
  }

  private static let nights = 14

  /// One per day, the oldest first, including days without a run.
  private var slots: [Slot] {
    let date = LocalTime(report.from)?.date ?? ""
    guard let today = CalendarDay(date) else { return [] }
    var byDay: [Int: NightReport.Night] = [:]
    for night in report.nights {
      if let day = CalendarDay(night.date) { byDay[day.number] = night }
    }
    let before = (1...Self.nights).reversed().map { back in
      let day = CalendarDay(number: today.number - back)
      return Slot(day: day.text, isTonight: false, night: byDay[day.number])
    }
    let tonight = report.night(of: date, hours: activity.busySeconds / 3600)
    return before + [Slot(day: today.text, isTonight: true, night: tonight)]
  }

  /// Compares this night with the previous fourteen, so that a silent device or a growing queue
  /// becomes visible.
  var nightsSection: Markup {
    let slots = slots
    guard slots.contains(where: { !$0.isTonight && $0.night != nil }) else { return .nothing }
    return Tag.section(Attribute("aria-labelledby", "nights-title")) {
      Tag.h2(.id("nights-title")) { "This night and the \(Self.nights) before" }
      Tag.div(.classes("grid")) {
        plot("Captures", slots, .done, { Double($0.captures) }, { NumberText.grouped($0.captures) })
        plot("Failures", slots, .failed, { Double($0.failed) }, { NumberText.grouped($0.failed) })
        plot(
          "Hours of work", slots, .waiting, { $0.hours },
          { FigureText.decimal(($0.hours * 10).rounded() / 10) })
      }
      table(slots)
    }
  }

  private func plot(
    _ name: String, _ slots: [Slot], _ tone: CaptureState.Color,
    _ value: (NightReport.Night) -> Double,
    _ said: (NightReport.Night) -> String
  ) -> Markup {
    let values = slots.map { $0.night.map(value).map { $0.isFinite ? max(0, $0) : 0 } }
    let most = max(values.compactMap(\.self).max() ?? 0, 1e-9)
    let step = 100 / Double(slots.count)
    let before = slots.dropLast().compactMap(\.night).sorted { value($0) < value($1) }
    let tonight = slots.last?.night.map(said) ?? "0"
    let range =
      before.isEmpty
      ? "" : ", \(before.first.map(said) ?? "") to \(before.last.map(said) ?? "") before"
    var bars = Markup.nothing
    for (index, number) in values.enumerated() {
      let x = Double(index) * step
      guard let number else {
        // A night without a run is a dash below the line, to distinguish it from zero.
        bars.append(
          Tag.line(
            .classes("mark"), Attribute("x1", FigureText.place(x + step * 0.3)),
            Attribute("x2", FigureText.place(x + step * 0.7)), Attribute("y1", 68),
            Attribute("y2", 68)))
        continue
      }
      let height = number == 0 ? 0 : max(1, 60 * number / most)
      let isTonight = index == values.count - 1
      let place = (y: FigureText.decimal(64 - height), height: FigureText.decimal(height))
      if isTonight {
        bars.append(
          tone.bar(x: x + step * 0.1, width: step * 0.8, y: place.y, height: place.height))
      } else {
        bars.append(
          Tag.rect(
            .classes("before"), Attribute("x", FigureText.place(x + step * 0.1)),
            Attribute("width", FigureText.place(step * 0.8)), Attribute("y", place.y),
            Attribute("height", place.height)))
      }
    }
    return Tag.figure(.classes("plot")) {
      Tag.figcaption {
        Tag.strong { "\(name): \(tonight)" }
        Tag.span(.classes("small")) { "\(range)" }
      }
      Tag.svg(
        Attribute("width", "100%"), Attribute("height", 88), Attribute("role", "img"),
        .label("\(name) per night: \(tonight) this night\(range)")
      ) {
        bars
        PlotPath.across("axis", y: 64)
        PlotPath.text("soft", x: "0", y: 84, slots.first?.day ?? "")
        Tag.text(
          .classes("soft"), Attribute("x", "100%"), Attribute("y", 84),
          Attribute("text-anchor", "end")
        ) { slots.last?.day ?? "" }
      }
    }
  }

  private func table(_ slots: [Slot]) -> Markup {
    PageTable.ofNight(
      "The nights in figures", ["Night", "Captures", "Failures", "Hours"],
      slots.reversed().map { slot in
        guard let night = slot.night else { return [slot.day, "no run", "", ""] }
        return [
          slot.day + (slot.isTonight ? " (this one)" : ""), NumberText.grouped(night.captures),
          NumberText.grouped(night.failed), FigureText.decimal((night.hours * 10).rounded() / 10),
        ]
      })
  }
}

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
          "\(FigureText.counted(report.devices.count, "device")), by last upload"
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
        Markup.name(FigureText.cut(device.device, 80))
      }
      Tag.td(Attribute("data-label", "Last upload")) {
        last?.text ?? device.lastUpload
        if let age, age > Self.quiet {
          " "
          Tag.strong { "quiet for \(FigureText.age(age))" }
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
                Tag.bdi { FigureText.cut(item.reasons.joined(separator: "; "), 300) }
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

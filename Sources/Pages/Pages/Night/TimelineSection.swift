import Core
import Engine

extension NightPage {
  private static let mostBins = 48
  private static let tones: [(tone: CaptureState.Color, words: String)] = [
    (.done, "done"), (.warning, "done, needing you"), (.waiting, "interrupted or skipped"),
    (.failed, "failed"), (.quarantined, "quarantined"),
  ]
  private static let height = 120.0

  private struct Bins {
    var start: Double
    var step: Double
    /// By bin, then in the order of `tones`.
    var counts: [[Int]]

    var end: Double { start + step * Double(counts.count) }
    func x(_ time: Double) -> Double { min(max(100 * (time - start) / (end - start), 0), 100) }
  }

  /// Bin widths are common time steps: 5 min to a day, then days.
  private func bins(_ range: ClosedRange<Double>) -> Bins {
    let steps = [300.0, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400]
    let span = range.upperBound - range.lowerBound
    let step =
      steps.first { span / $0 < Double(Self.mostBins - 1) }
      ?? (span / Double(Self.mostBins - 1) / 86_400).rounded(.up) * 86_400
    let start = (range.lowerBound / step).rounded(.down) * step
    let count = min(Self.mostBins, Int((range.upperBound - start) / step) + 1)
    var bins = Bins(
      start: start, step: step,
      counts: Array(repeating: Array(repeating: 0, count: Self.tones.count), count: count))
    let captures = Dictionary(
      firstOf: report.captures.map { ($0.id, $0) })
    for part in activity.attempts {
      let index = min(max(Int((part.to - start) / step), 0), count - 1)
      bins.counts[index][Self.tone(part, part.capture.flatMap { captures[$0] })] += 1
    }
    return bins
  }

  private static func tone(_ part: NightActivity.Part, _ capture: CaptureRow?) -> Int {
    switch RunOutcome(rawValue: part.kind) {
    case .made, .upToDate, .notPossible: capture?.needsPerson == true ? 1 : 0
    case .failed, .blocked: capture?.state == .quarantined ? 4 : 3
    case .interrupted, .skipped, nil: 2
    }
  }

  /// The section about when captures ended and when the machine waited.
  var timelineSection: Markup {
    guard let range = activity.range else { return .nothing }
    let bins = bins(range)
    let words = words(bins, range)
    return Tag.section(Attribute("aria-labelledby", "timeline-title")) {
      Tag.h2(.id("timeline-title")) { "Timeline" }
      Tag.figure(.classes("plot")) {
        Tag.figcaption { words }
        drawing(bins, words)
        legend(bins)
      }
      table(bins)
    }
  }

  // MARK: Words

  private func words(_ bins: Bins, _ range: ClosedRange<Double>) -> String {
    let sums = Self.tones.indices.map { tone in bins.counts.reduce(0) { $0 + $1[tone] } }
    let total = sums.reduce(0, +)
    var parts = zip(sums, Self.tones).dropFirst(2).filter { $0.0 > 0 }.map {
      "\($0.0) \($0.1.words)"
    }
    let (plain, warned) = (sums[0], sums[1])
    if plain + warned > 0 {
      parts.insert(
        "\(plain + warned) done" + (warned > 0 ? ", \(warned) of them needing you" : ""), at: 0)
    }
    var text = "\(FigureText.counted(total, "attempt")) \(Self.words(range))"
    if !parts.isEmpty { text += ": " + parts.joined(separator: ", ") }
    text += "."
    let waits = Dictionary(grouping: activity.waits, by: \.kind).sorted { $0.key < $1.key }
      .map { "\(DurationText.measured(union($0.value))) for \(Self.what($0.key))" }
    if !waits.isEmpty { text += " Waited \(StageWords.list(waits))." }
    return text
  }

  /// `between 25 Nov 22:04 and 23:10`; within one minute `on 25 Nov at 22:04`.
  private static func words(_ range: ClosedRange<Double>) -> String {
    let (first, last) = (LocalTime(seconds: range.lowerBound), LocalTime(seconds: range.upperBound))
    if first.text == last.text { return "on \(first.day) at \(first.clock)" }
    return "between \(first.text) and \(last.text(near: first))"
  }

  /// `5 min`, `3 h`, `2 days`: the width of a bin.
  static func binWidth(_ seconds: Double) -> String {
    let minutes = Int(min(max(seconds, 0), 1e10) / 60)
    if minutes < 60 { return "\(minutes) min" }
    if minutes < 1_440 { return "\(minutes / 60) h" }
    return FigureText.counted(minutes / 1_440, "day")
  }

  /// Places of the times below the drawing, shares of its width: both ends, and the limit of two bins that is nearest
  /// to the middle, so that the time there is exact to the minute.
  static func ticks(ofBins count: Int) -> [(place: Double, anchor: String)] {
    let middle = count > 1 ? [(Double(count / 2) / Double(count), "middle")] : []
    return [(0, "start")] + middle + [(1, "end")]
  }

  private static func what(_ kind: String) -> String {
    switch kind {
    case "window": "the given hours"
    case "disk": "disk space"
    case "staging": "STAGING"
    default: kind
    }
  }

  private func union(_ parts: [NightActivity.Part]) -> Double {
    var sum = 0.0
    var end = -Double.infinity
    for part in parts {
      sum += max(0, part.to - max(part.from, end))
      end = max(end, part.to)
    }
    return sum
  }

  // MARK: Drawing

  private func drawing(_ bins: Bins, _ words: String) -> Markup {
    let most = Double(max(bins.counts.map { $0.reduce(0, +) }.max() ?? 0, 1))
    let step = 100 / Double(bins.counts.count)
    var parts = Markup.nothing
    for wait in activity.waits.prefix(200) {
      let x = bins.x(wait.from)
      let place = [
        Attribute("x", FigureText.place(x)),
        Attribute("width", FigureText.place(max(0.2, bins.x(wait.to) - x))), Attribute("y", 0),
        Attribute("height", Int(Self.height)),
      ]
      parts.append(Tag.rect(place + [.classes("gap")]))
      parts.append(Tag.rect(place + [Attribute("fill", "url(#tone-waiting)")]))
    }
    for (index, counts) in bins.counts.enumerated() {
      var top = Self.height
      for (tone, count) in zip(Self.tones, counts) where count > 0 {
        let height = max(1, (Self.height - 12) * Double(count) / most)
        top -= height
        parts.append(
          tone.tone.bar(
            x: Double(index) * step + step * 0.08, width: step * 0.84, y: FigureText.decimal(top),
            height: FigureText.decimal(height)))
      }
    }
    return Tag.svg(
      Attribute("width", "100%"), Attribute("height", Int(Self.height) + 24),
      Attribute("role", "img"), .label(words)
    ) {
      parts
      PlotPath.across("axis", y: Int(Self.height))
      for (place, anchor) in Self.ticks(ofBins: bins.counts.count) {
        let time = LocalTime(seconds: bins.start + (bins.end - bins.start) * place)
        Tag.text(
          .classes("soft"), Attribute("x", FigureText.place(100 * place)),
          Attribute("y", Int(Self.height) + 18), Attribute("text-anchor", anchor)
        ) { bins.end - bins.start > 86_400 ? time.text : time.clock }
      }
    }
  }

  private func legend(_ bins: Bins) -> Markup {
    Tag.ul(.classes("legend")) {
      for (index, tone) in Self.tones.enumerated()
      where bins.counts.contains(where: { $0[index] > 0 }) {
        swatch(tone.tone.bar(x: 0, width: 100, y: "0", height: "100%"), tone.words)
      }
      if !activity.waits.isEmpty {
        swatch(
          Tag.rect(.classes("gap"), Attribute("width", "100%"), Attribute("height", "100%"))
            + Tag.rect(
              Attribute("fill", "url(#tone-waiting)"), Attribute("width", "100%"),
              Attribute("height", "100%")), "the machine waited")
      }
    }
  }

  private func swatch(_ drawing: Markup, _ words: String) -> Markup {
    Tag.li {
      Tag.svg(
        .classes("swatch"), Attribute("width", 16), Attribute("height", 16),
        Attribute("aria-hidden", "true")
      ) { drawing }
      words
    }
  }

  private func table(_ bins: Bins) -> Markup {
    let used = Self.tones.indices.filter { tone in bins.counts.contains { $0[tone] > 0 } }
    var rows: [[String]] = []
    for (index, counts) in bins.counts.enumerated() where counts.contains(where: { $0 > 0 }) {
      let time = LocalTime(seconds: bins.start + bins.step * Double(index))
      rows.append([time.text] + used.map { "\(counts[$0])" })
    }
    for wait in activity.waits.prefix(100) {
      rows.append(
        [
          "\(LocalTime(seconds: wait.from).text) waited for \(Self.what(wait.kind)) until \(LocalTime(seconds: wait.to).clock)"
        ] + used.map { _ in "" })
    }
    return PageTable.ofNight(
      "The timeline in figures, in steps of \(Self.binWidth(bins.step))",
      ["From"] + used.map { Self.tones[$0].words }, rows)
  }
}

/// When captures were processed, from the spans in the report.
struct NightActivity {
  struct Part {
    var capture: String?
    var kind: String
    var from: Double
    var to: Double
  }

  let attempts: [Part]
  /// Times at which the watcher paused, by start.
  let waits: [Part]
  /// Seconds in which at least one capture was processed.
  let busySeconds: Double
  /// From the start of the first attempt to the end of the last, including pauses; `nil` without
  /// attempts.
  let range: ClosedRange<Double>?

  init(_ report: NightReport) {
    let parts = report.timeline.compactMap { span -> Part? in
      guard let from = LocalTime(span.from), let to = LocalTime(span.to), to >= from else {
        return nil
      }
      return Part(capture: span.capture, kind: span.kind, from: from.seconds, to: to.seconds)
    }.sorted { $0.from < $1.from }
    attempts = parts.filter { $0.capture != nil }
    waits = parts.filter { $0.capture == nil }
    var busy = 0.0
    var end = -Double.infinity
    for part in attempts {
      busy += max(0, part.to - max(part.from, end))
      end = max(end, part.to)
    }
    busySeconds = busy
    if let first = parts.first {
      range = first.from...max(first.from, parts.map(\.to).max() ?? first.from)
    } else {
      range = nil
    }
  }
}

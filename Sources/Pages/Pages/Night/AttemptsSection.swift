import Core
import Engine

extension NightPage {
  private static let mostRuns = 10
  private static let mostCaptures = 100

  private struct Column {
    var run: String
    var from: Double
  }

  /// Captures against runs: what became of each attempt at those that failed or were processed more than once.
  var attemptsSection: Markup {
    let spans = report.timeline.filter { $0.capture != nil && $0.run != nil }
    let byCapture = Dictionary(grouping: spans) { $0.capture ?? "" }
    let rows = report.captures.filter { capture in
      let own = byCapture[capture.id] ?? []
      return own.count > 1 || own.contains { Self.isFailure($0.kind) }
    }
    guard !rows.isEmpty else { return .nothing }
    let shown = rows.prefix(Self.mostCaptures)
    var starts: [String: Double] = [:]
    for capture in shown {
      for span in byCapture[capture.id] ?? [] {
        guard let run = span.run, let from = LocalTime(span.from)?.seconds else { continue }
        starts[run] = min(starts[run] ?? .infinity, from)
      }
    }
    let all = starts.map { Column(run: $0.key, from: $0.value) }
      .sorted { ($0.from, $0.run) < ($1.from, $1.run) }
    let columns = all.suffix(Self.mostRuns)
    let heads = heads(columns)
    return Tag.section(Attribute("aria-labelledby", "attempts-title")) {
      Tag.h2(.id("attempts-title")) { "Attempts" }
      Tag.table(.id("attempts"), .classes("data")) {
        Tag.caption {
          "\(FigureText.counted(rows.count, "capture")) that failed or \(rows.count == 1 ? "was" : "were") processed more than once, by run"
            + (shown.count < rows.count ? "; the first \(shown.count)" : "")
            + (columns.count < all.count ? "; the last \(columns.count) of \(all.count) runs" : "")
        }
        Tag.thead {
          Tag.tr {
            Tag.th(Attribute("scope", "col")) { "Capture" }
            for column in columns {
              Tag.th(Attribute("scope", "col"), Attribute("title", column.run)) {
                heads[column.run] ?? ""
              }
            }
            Tag.th(Attribute("scope", "col")) { "Now" }
          }
        }
        Tag.tbody {
          for capture in shown { row(capture, byCapture[capture.id] ?? [], columns, heads) }
        }
      }
    }
  }

  /// When each run began, by run; with seconds where several began in the same minute.
  private func heads(_ columns: ArraySlice<Column>) -> [String: String] {
    let now = LocalTime(report.made)
    let words = columns.map { LocalTime(seconds: $0.from).text(near: now) }
    return Dictionary(
      firstOf: zip(columns, words).map { column, text in
        let isShared = words.count { $0 == text } > 1
        return (column.run, isShared ? text + LocalTime(seconds: column.from).secondsOfClock : text)
      })
  }

  private static func isFailure(_ kind: String) -> Bool { kind == "failed" || kind == "blocked" }

  private func row(
    _ capture: CaptureRow, _ spans: [NightReport.Span], _ columns: ArraySlice<Column>,
    _ heads: [String: String]
  ) -> Markup {
    let byRun = Dictionary(grouping: spans) { $0.run ?? "" }
    return Tag.tr {
      Tag.th(Attribute("scope", "row")) { names.link(capture) }
      for column in columns {
        Tag.td(Attribute("data-label", heads[column.run] ?? "")) {
          if let kind = byRun[column.run]?.last?.kind {
            Tag.span(Attribute("data-state", kind)) {
              Tag.span(.classes("state")) { kind.replacing("-", with: " ") }
            }
          }
        }
      }
      Tag.td(Attribute("data-label", "Now")) {
        Tag.span(Attribute("data-state", capture.state.rawValue)) {
          Tag.span(.classes("state")) { capture.state.words }
        }
      }
    }
  }
}

extension NightPage {
  private static let mostNamed = 200

  /// What people decided about captures: who, when, and in which words.
  var marksSection: Markup {
    let marked = report.captures.filter { $0.mark != nil }
    let retired = report.retired ?? []
    guard !marked.isEmpty || !retired.isEmpty else { return .nothing }
    return Tag.section(.id("marks"), Attribute("aria-labelledby", "marks-title")) {
      Tag.h2(.id("marks-title")) { "Marked by people" }
      if !marked.isEmpty {
        Tag.ul {
          for capture in marked.prefix(Self.mostNamed) {
            Tag.li {
              names.link(capture)
              Markup.name(capture.mark.map { ": " + $0.told(LocalTime.text) } ?? "")
            }
          }
        }
        if marked.count > Self.mostNamed {
          Tag.p {
            "and \(FigureText.counted(marked.count - Self.mostNamed, "more capture"))"
          }
        }
      }
      if !retired.isEmpty {
        Tag.details {
          Tag.summary {
            "\(FigureText.counted(retired.count, "retired capture")), neither processed nor counted"
          }
          Tag.ul {
            for capture in retired.prefix(Self.mostNamed) {
              Tag.li {
                Markup.name(FigureText.cut(capture.id, 200))
                Markup.name(": " + capture.mark.told(LocalTime.text))
              }
            }
          }
          if retired.count > Self.mostNamed { Tag.p { "and others" } }
        }
      }
    }
  }
}

extension CaptureMark {
  /// `ignore, by anna, 20 Nov 22:00, until its files change: too dark`.
  ///
  /// - Parameter moment: a time as the page writes it.
  func told(_ moment: (String) -> String) -> String {
    var parts = [mark.rawValue, "by \(FigureText.cut(by, 60))", moment(at)]
    switch ended {
    case nil where until == MarkRecord.untilChanged: parts.append("until its files change")
    case nil: parts.append("until \(moment(until))")
    case .changed: parts.append("counts no more: its files have changed")
    case .date: parts.append("counts no more: its date has passed")
    }
    return parts.joined(separator: ", ") + (note.map { ": \(FigureText.cut($0, 500))" } ?? "")
  }
}

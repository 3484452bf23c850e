import Core
import Engine

/// What people decided about captures: who, when, and in which words.
struct MarksSection {
  let report: NightReport
  let names: PageNames

  private static let mostNamed = 200

  var markup: Markup {
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
              Markup.name(capture.mark.map { ": " + Self.words($0, LocalTime.text) } ?? "")
            }
          }
        }
        if marked.count > Self.mostNamed {
          Tag.p {
            "and \(Phrasing.count(marked.count - Self.mostNamed, "more capture"))"
          }
        }
      }
      if !retired.isEmpty {
        Tag.details {
          Tag.summary {
            "\(Phrasing.count(retired.count, "retired capture")), neither processed nor counted"
          }
          Tag.ul {
            for capture in retired.prefix(Self.mostNamed) {
              Tag.li {
                Markup.name(Phrasing.cut(capture.id, 200))
                Markup.name(": " + Self.words(capture.mark, LocalTime.text))
              }
            }
          }
          if retired.count > Self.mostNamed { Tag.p { "and others" } }
        }
      }
    }
  }

  /// `ignore, by anna, 20 Nov 22:00, until its files change: too dark`.
  ///
  /// - Parameter moment: a time as the page writes it.
  static func words(_ mark: CaptureMark, _ moment: (String) -> String) -> String {
    var parts = [mark.mark.rawValue, "by \(Phrasing.cut(mark.by, 60))", moment(mark.at)]
    switch mark.ended {
    case nil where mark.until == MarkRecord.untilChanged: parts.append("until its files change")
    case nil: parts.append("until \(moment(mark.until))")
    case .changed: parts.append("counts no more: its files have changed")
    case .date: parts.append("counts no more: its date has passed")
    }
    return parts.joined(separator: ", ") + (mark.note.map { ": \(Phrasing.cut($0, 500))" } ?? "")
  }
}

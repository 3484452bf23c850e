import Core
import Engine

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
    var parts = [mark.rawValue, "by \(Phrasing.cut(by, 60))", moment(at)]
    switch ended {
    case nil where until == MarkRecord.untilChanged: parts.append("until its files change")
    case nil: parts.append("until \(moment(until))")
    case .changed: parts.append("counts no more: its files have changed")
    case .date: parts.append("counts no more: its date has passed")
    }
    return parts.joined(separator: ", ") + (note.map { ": \(Phrasing.cut($0, 500))" } ?? "")
  }
}

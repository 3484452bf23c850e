import Captures
import Reports

/// Warnings in words, those of one code together: what it means, what to do, where.
struct WarningsPart {
  let warnings: [CaptureWarning]
  let voice: PagePhrasing

  private static let mostEntries = 200

  /// `nil` without any.
  func markup() -> Markup? {
    guard !warnings.isEmpty else { return nil }
    let real = warnings.withoutNotes
    let notes = warnings.filter { $0.severity == .note }
    return .element(.section, .id("warnings")) {
      Markup.element(.h2) { "Warnings" }
      Markup.element(.p) { Self.sentence(real.count, notes.count) }
      for group in Self.groups(real) { self.group(group, .h3) }
      if !notes.isEmpty {
        if !real.isEmpty { Markup.element(.h3) { "Notes" } }
        for group in Self.groups(notes) { self.group(group, real.isEmpty ? .h3 : .h4) }
      }
    }
  }

  private static func sentence(_ warnings: Int, _ notes: Int) -> String {
    let noteWords =
      notes == 0
      ? ""
      : "\(FigureText.counted(notes, "note")): common in ordinary recordings and handled without loss."
    if warnings == 0 { return noteWords }
    return "\(FigureText.counted(warnings, "kind of warning", "kinds of warnings")). " + noteWords
  }

  private static func groups(_ warnings: [CaptureWarning]) -> [[CaptureWarning]] {
    var codes: [WarningCode] = []
    for warning in warnings.prefix(mostEntries) where !codes.contains(warning.code) {
      codes.append(warning.code)
    }
    return codes.map { code in warnings.prefix(mostEntries).filter { $0.code == code } }
  }

  private func group(_ group: [CaptureWarning], _ heading: Tag) -> Markup {
    guard let first = group.first else { return .nothing }
    let entry = CodeReference[first.code.rawValue]
    let isNote = first.severity == .note
    return .element(
      .div, Attribute("class", isNote ? "warning-card note" : "warning-card card"),
      Attribute("data-state", isNote ? "done" : "done-with-warnings"),
      Attribute("data-code", first.code.rawValue)
    ) {
      Markup.element(heading) {
        Markup.element(.span, .classes("state")) { isNote ? "Note: " : "Warning: " }
        entry?.meaning ?? first.code.rawValue
      }
      Markup.element(.ul) {
        for warning in group {
          Markup.element(.li) {
            Markup.element(.strong) { voice.name(warning.subject) }
            ", \(FigureText.count(warning.count)): "
            voice.text(warning.message)
          }
        }
      }
      if let entry {
        Markup.element(.p) {
          Markup.element(.strong) { "What to do: " }
          entry.remedy
        }
      }
      Markup.element(.p, .classes("small")) { Markup.element(.code) { first.code.rawValue } }
    }
  }
}

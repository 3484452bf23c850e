import Core
import Captures
import Engine

/// The part about warnings, grouped by code: meaning, remedy, subjects.
struct WarningsPart {
  let warnings: [CaptureWarning]
  let phrasing: PagePhrasing

  private static let mostEntries = 200

  /// `nil` without any.
  func markup() -> Markup? {
    guard !warnings.isEmpty else { return nil }
    let real = warnings.withoutNotes
    let notes = warnings.filter { $0.severity == .note }
    return .element(.section, .id("warnings")) {
      Markup.element(.h2) { "Warnings" }
      Markup.element(.p) { Self.sentence(real.counted, notes) }
      let kinds = Self.groups(real)
      for group in kinds { self.group(group, .h3, most: Self.most(kinds.count)) }
      if !notes.isEmpty {
        if !real.isEmpty { Markup.element(.h3) { "Notes" } }
        let kinds = Self.groups(notes)
        for group in kinds {
          self.group(group, real.isEmpty ? .h3 : .h4, most: Self.most(kinds.count))
        }
      }
    }
  }

  /// The number of kinds equals the number of cards.
  private static func sentence(_ warnings: WarningCount, _ notes: [CaptureWarning]) -> String {
    let kinds = Set(notes.map(\.code)).count
    let noteWords =
      kinds == 0
      ? ""
      : "\(FigureText.counted(kinds, "kind of note", "kinds of notes")): common in ordinary recordings and handled without loss."
    return warnings.isNone ? noteWords : "\(warnings.sentence). " + noteWords
  }

  private static func groups(_ warnings: [CaptureWarning]) -> [[CaptureWarning]] {
    var codes: [WarningCode] = []
    for warning in warnings where !codes.contains(warning.code) {
      codes.append(warning.code)
    }
    return codes.map { code in warnings.filter { $0.code == code } }
  }

  /// Largest number of subjects per card. Every kind has a card, whatever the number of kinds.
  private static func most(_ cards: Int) -> Int { max(20, mostEntries / max(1, cards)) }

  private func group(_ group: [CaptureWarning], _ heading: Tag, most: Int) -> Markup {
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
        AttentionSection.prose(entry?.meaning ?? first.code.rawValue)
      }
      Markup.element(.ul) {
        for warning in group.prefix(most) {
          Markup.element(.li) {
            Markup.element(.strong) { phrasing.name(warning.subject) }
            ", \(FigureText.count(warning.count)): "
            phrasing.text(warning.message)
          }
        }
        if group.count > most {
          Markup.element(.li) { "and \(FigureText.count(group.count - most)) more" }
        }
      }
      if let entry {
        Markup.element(.p) {
          Markup.element(.strong) { "What to do: " }
          AttentionSection.prose(entry.remedy)
        }
      }
      Markup.element(.p, .classes("small")) { Markup.element(.code) { first.code.rawValue } }
    }
  }
}

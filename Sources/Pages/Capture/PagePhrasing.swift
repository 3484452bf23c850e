import Core
import Engine

/// Prepares texts that come from names, metadata and messages for a page: redacts private parts if
/// requested, and limits the length. Every such text of a capture page passes through this type.
struct PagePhrasing: Sendable {
  let redaction: Redaction?
  /// Private texts, longest first.
  private let secrets: [String]

  /// - Parameter secrets: texts that are private wherever they occur, in addition to those known to
  ///   `redaction`.
  init(_ redaction: Redaction?, secrets: [String]) {
    self.redaction = redaction
    let all = secrets.flatMap { [$0, $0.shown, $0.onOneLine, PathText.shown($0)] }
    self.secrets = Set(all).filter { $0.count >= 3 }.sorted {
      ($0.utf8.count, $0) > ($1.utf8.count, $1)
    }
  }

  var isRedacted: Bool { redaction != nil }

  /// At most `most` bytes of the text, with an ellipsis if cut.
  func text(_ text: String, most: Int = 1000) -> String {
    guard let redaction else { return Self.cut(text, most: most) }
    // Redacted before cutting: a secret that is cut in two would not be recognized.
    var shown = redaction.text(Self.cut(text, most: 1 << 16))
    for secret in secrets { shown = shown.replacing(secret, with: "[left out]") }
    return Self.cut(shown, most: most)
  }

  /// A name inside a sentence, with any writing direction.
  func name(_ text: String) -> Markup { .name(self.text(text, most: 300)) }

  static func cut(_ text: String, most: Int) -> String {
    guard text.utf8.count > most else { return text }
    var cut = ""
    var bytes = 0
    for scalar in text.unicodeScalars {
      bytes += UTF8.width(scalar)
      if bytes > most { break }
      cut.unicodeScalars.append(scalar)
    }
    return cut + "…"
  }
}

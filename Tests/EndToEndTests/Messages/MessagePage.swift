import Foundation
import SystemPackage
import TestSupport

/// `docs/messages.md`: a table of what people see, what it means and what to do.
enum MessagePage {
  struct Row {
    /// Without the backticks; `…` stands for any text.
    var shows: String
    var means: String
    var remedy: String
  }

  static func rows() throws -> [Row] {
    let page = Fixtures.projectRoot.appending("docs/messages.md").string
    return try String(contentsOfFile: page, encoding: .utf8).split(separator: "\n").compactMap {
      guard $0.hasPrefix("| `") else { return nil }
      // A bar inside of a cell is written `\|`.
      let cells = $0.replacing("\\|", with: "\u{1}").split(separator: "|").map {
        $0.replacing("\u{1}", with: "|").trimmingCharacters(in: .whitespaces)
      }
      guard cells.count == 3 else { return Row(shows: String($0), means: "", remedy: "") }
      return Row(
        shows: cells[0].trimmingCharacters(in: ["`"]), means: cells[1], remedy: cells[2])
    }
  }

  /// Whether a line of a text has the pieces between `…`, one after the other.
  static func isShown(_ message: String, in text: String) -> Bool {
    text.split(whereSeparator: \.isNewline).contains { line in
      var rest = line[...]
      for piece in message.split(separator: "…").map({ $0.trimmingCharacters(in: .whitespaces) }) {
        guard let place = rest.range(of: piece) else { return false }
        rest = rest[place.upperBound...]
      }
      return true
    }
  }
}

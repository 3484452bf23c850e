import Foundation
import SystemPackage
import TestSupport

/// `docs/outputs.md` as a table of contents of an output: patterns of files and columns of tables. Columns of what other
/// pages are about are there.
struct OutputsPage {
  /// A pattern as it is written, and as a regular expression.
  struct Pattern {
    let text: String
    let regex: Regex<AnyRegexOutput>
  }

  struct Column: Equatable {
    var name: String
    var unit: String
  }

  /// Patterns of files in a capture's folder, and of those in the output folder itself.
  let ofCapture: [Pattern]
  let ofOutput: [Pattern]
  /// By file: `tables/frames.csv`; `frames.csv` stands for those of exports.
  let columns: [String: [Column]]
  /// Examples of tables by file: header and rows.
  let examples: [String: [String]]
  /// Sensor types by family.
  let sensors: [String: Set<String>]
  let text: String

  init() throws {
    func page(_ name: String) throws -> String {
      let file = Fixtures.projectRoot.appending("docs").appending("\(name).md")
      return try file.text()
    }
    text = try page("outputs")
    let files = Self.section("## Files", of: text)
    let whole = "### Of the whole output"
    ofCapture = try Self.patterns(files.components(separatedBy: whole).first ?? "")
    ofOutput = try Self.patterns(files.components(separatedBy: whole).last ?? "")
    var columns: [String: [Column]] = [:]
    var examples: [String: [String]] = [:]
    var current = ""
    var isExample = false
    let pages = try [Self.section("## Tables", of: text), page("pictures"), page("quality")]
    for line in pages.joined(separator: "\n").components(separatedBy: "\n") {
      let spans = Self.spans(line)
      if line.hasPrefix("```") {
        isExample = line == "```csv"
      } else if isExample {
        examples[current, default: []].append(line)
      } else if line.hasPrefix("#") {
        current = spans.last ?? ""
      } else if current.hasSuffix("csv"), line.hasPrefix("| `"), let name = spans.first {
        let cells = Self.cells(line)
        columns[current, default: []]
          .append(Column(name: name, unit: cells.count > 1 ? cells[1] : ""))
      }
    }
    self.columns = columns
    self.examples = examples
    var sensors: [String: Set<String>] = [:]
    for line in Self.section("## Sensors by family", of: text).lines
    where line.hasPrefix("| `") {
      let cells = Self.cells(String(line))
      guard let family = Self.spans(cells[0]).first, cells.count > 2 else { continue }
      sensors[family, default: []].formUnion(Self.spans(cells[1]))
    }
    self.sensors = sensors
  }

  /// From a heading to the next one of its level.
  private static func section(_ heading: String, of text: String) -> String {
    let level = heading.prefix { $0 == "#" }
    let parts = text.components(separatedBy: "\n\(heading)")
    guard parts.count > 1 else { return "" }
    return parts[1].components(separatedBy: "\n\(level) ").first ?? ""
  }

  private static func cells(_ line: String) -> [String] {
    line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
  }

  /// What stands between backticks.
  private static func spans(_ line: String) -> [String] {
    line.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
  }

  private static func patterns(_ text: String) throws -> [Pattern] {
    try text.lines.filter { $0.hasPrefix("| `") }
      .flatMap { spans(cells(String($0))[0]) }
      .map { Pattern(text: $0, regex: try Regex(expression($0))) }
  }

  /// `<name>` and `*` are any name, `…` whatever follows, NNNNNN, N and NS digits, TIME digits and a point.
  private static func expression(_ pattern: String) throws -> String {
    var text = NSRegularExpression.escapedPattern(for: pattern)
    for (word, expression) in [
      ("<[^>]+>", "[^/]+"), ("\\\\\\*", "[^/]+"), ("…", ".+"), ("NNNNNN", "[0-9]{6,}"),
      ("\\bNS\\b", "[0-9]+"), ("\\bTIME\\b", "[0-9.]+"), ("\\bN\\b", "[0-9]+"),
      ("chunk-0000", "chunk-[0-9]{4,}"),
    ] {
      text = text.replacing(try Regex(word), with: expression)
    }
    return "^\(text)$"
  }
}

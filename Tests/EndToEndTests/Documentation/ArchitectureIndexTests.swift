import Foundation
import SystemPackage
import TestSupport
import Testing

/// The table "Who decides" of ARCHITECTURE.md, compared with the sources.
@Suite("The index of ARCHITECTURE.md")
struct ArchitectureIndexTests {
  private struct Row: Sendable {
    var question: String
    var type: String
    /// Below `Sources`.
    var file: String
  }

  private static func text() throws -> String {
    try Fixtures.projectRoot.appending("ARCHITECTURE.md").text()
  }

  /// The rows of the table: a question, a type in backticks, a file in backticks.
  private static func rows() throws -> [Row] {
    let parts = try text().components(separatedBy: "\n## Who decides\n")
    #expect(parts.count == 2)
    let section = (parts.last ?? "").components(separatedBy: "\n## ")[0]
    // The head of the table and the line below it are no rows.
    let lines = section.lines.filter { $0.hasPrefix("|") }.dropFirst(2)
    return try lines.map { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      try #require(cells.count == 3, "\(line)")
      return Row(question: cells[0], type: try quoted(cells[1]), file: try quoted(cells[2]))
    }
  }

  /// What stands between the only two backticks of a cell.
  private static func quoted(_ cell: String) throws -> String {
    let pieces = cell.components(separatedBy: "`")
    try #require(pieces.count == 3 && pieces[0].isEmpty && pieces[2].isEmpty, "\(cell)")
    return pieces[1]
  }

  @Test("The file of each row declares the type that decides")
  func types() throws {
    let rows = try Self.rows()
    #expect(rows.count >= 12)
    for row in rows {
      guard let source = SwiftSource.all[row.file] else {
        Issue.record("\(row.question) Sources/\(row.file) does not exist")
        continue
      }
      #expect(
        source.outermost.contains(row.type), "Sources/\(row.file) does not declare \(row.type)")
    }
  }
}

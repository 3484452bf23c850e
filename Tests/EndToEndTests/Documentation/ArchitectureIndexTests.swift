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

  private static let mostWords = 3_500

  /// Words of questions that a maintainer looks for; each must be in some row.
  private static let subjects = [
    "state", "person", "stage run", "cause", "remedy", "exit code", "apply", "frames", "stream",
    "unchanged",
    "output folder", "pass over",
  ]

  private static func text() throws -> String {
    try Fixtures.projectRoot.appending("ARCHITECTURE.md").text()
  }

  /// The rows of the table: a question, a type in backticks, a file in backticks.
  private static func rows() throws -> [Row] {
    let parts = try text().components(separatedBy: "\n## Who decides\n")
    #expect(parts.count == 2)
    let section = (parts.last ?? "").components(separatedBy: "\n## ")[0]
    // The head of the table and the line below it are no rows.
    let lines = section.split(separator: "\n").filter { $0.hasPrefix("|") }.dropFirst(2)
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
    #expect(rows.count >= Self.subjects.count)
    for row in rows {
      guard let source = SwiftSource.all[row.file] else {
        Issue.record("\(row.question) Sources/\(row.file) does not exist")
        continue
      }
      #expect(
        source.outermost.contains(row.type), "Sources/\(row.file) does not declare \(row.type)")
    }
  }

  @Test("Each question has one row and each row is a question")
  func questions() throws {
    let questions = try Self.rows().map(\.question)
    #expect(Set(questions).count == questions.count)
    #expect(questions.allSatisfy { $0.hasSuffix("?") })
    for subject in Self.subjects {
      #expect(questions.contains { $0.contains(subject) }, "no question about '\(subject)'")
    }
  }

  @Test("ARCHITECTURE.md is short enough to be read")
  func length() throws {
    let words = try Self.text().split(whereSeparator: \.isWhitespace).count
    #expect(words <= Self.mostWords, "\(words) words")
  }
}

import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core

@Suite("Documents", .runsPrograms)
struct DocumentTests {
  /// A page of Markdown, by its path in the project.
  struct Page: CustomTestStringConvertible {
    let path: String
    let text: String
    /// Lines of blocks of code, and the others.
    let code: [String]
    let prose: [String]

    var testDescription: String { path }
    var words: Int { text.split(whereSeparator: \.isWhitespace).count }

    init(_ path: String) {
      self.path = path
      text =
        (try? DocumentTests.file(path).text()) ?? ""
      let blocks = text.components(separatedBy: "\n```")
      func lines(_ isCode: Bool) -> [String] {
        blocks.enumerated().filter { ($0.offset % 2 == 1) == isCode }
          .flatMap { $0.element.components(separatedBy: "\n").dropFirst() }
      }
      (code, prose) = (lines(true), lines(false))
    }

    /// Headings, as a web site makes anchors of them.
    var anchors: Set<String> {
      Set(
        (prose + [text.components(separatedBy: "\n")[0]]).filter { $0.hasPrefix("#") }.map {
          $0.drop { $0 == "#" }.dropFirst().lowercased()
            .filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
            .replacing(" ", with: "-")
        })
    }
  }

  private static func file(_ path: String) -> FilePath {
    Fixtures.projectRoot.pushing(FilePath(path))
  }

  /// Those of `docs/`, at any depth.
  private static let docs: [Page] =
    (FileManager.default.enumerator(atPath: file("docs").string)?.compactMap { $0 as? String } ?? [])
    .filter { $0.hasSuffix(".md") }.sorted().map { Page("docs/\($0)") }

  /// Those that people write; the others are made.
  private static let written = docs.filter { !$0.path.hasPrefix("docs/reference/") }

  private static let all =
    ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map { Page($0) } + docs

  @Test("There are at most 30,000 words on the pages that people write, and 5,000 on one")
  func words() {
    #expect(Self.written.count > 15)
    for page in Self.written { #expect(page.words <= 5_000, "\(page.path): \(page.words)") }
    let words = Self.written.map(\.words).reduce(0, +)
    #expect(words <= 30_000, "\(words)")
  }

  @Test("Each begins with what a reader can do after it", arguments: written)
  func beginning(page: Page) {
    let first = page.text.components(separatedBy: "\n").dropFirst().first { !$0.isEmpty }
    #expect(first?.hasPrefix("After this page ") == true, "\(first ?? "")")
  }

  @Test("Each link leads somewhere", arguments: all)
  func links(page: Page) {
    for match in page.prose.joined(separator: "\n").matches(of: /\]\(([^)#: ]*)(?:#([^) ]*))?\)/) {
      let folder = FilePath(page.path).removingLastComponent()
      let path =
        match.1.isEmpty
        ? page.path : folder.pushing(FilePath(String(match.1))).lexicallyNormalized().string
      #expect(FileSystem.exists(Self.file(path)), "\(match.0)")
      guard let anchor = match.2, path.hasSuffix(".md") else { continue }
      let target = Self.all.first { $0.path == path } ?? Page(path)
      #expect(target.anchors.contains(String(anchor)), "\(match.0)")
    }
  }

  /// Words of every call of the program in blocks of code, from the verb on.
  private static func calls(_ page: Page) -> [[String]] {
    page.code.joined(separator: "\n").replacing("\\\n", with: " ").lines
      .filter { !$0.hasPrefix("#") }.flatMap { $0.split(separator: "|") }
      .compactMap { part -> [String]? in
        let words = part.split(separator: " ").map {
          $0.trimmingCharacters(in: ["(", ")", "\"", ";"])
        }
        // Behind an option it is the name of a user, a group or an image.
        let start = words.indices.dropLast().first { index in
          let name = words[index]
          let isProgram =
            name == "scanmill" || name.hasSuffix("/scanmill") || name == "scanmill:latest"
          return isProgram && !words[index + 1].isEmpty
            && words[index + 1].allSatisfy(\.isLowercase)
            && (index == 0 || !words[index - 1].hasPrefix("-"))
        }
        return start.map { Array(words[($0 + 1)...]) }
      }
  }

  @Test("Every option of every command in a block is one of the program")
  func options() throws {
    let calls = Self.all.flatMap { page in Self.calls(page).map { (page.path, $0) } }
    #expect(calls.count > 100)
    var helps: [[String]: String] = [:]
    for (path, call) in calls {
      // The second word may be a part of the verb.
      let second = call.dropFirst().first.flatMap { word in
        word.first?.isLowercase == true && word.allSatisfy { $0.isLowercase || $0 == "-" }
          ? word : nil
      }
      let verb = [call[0], second].compactMap { $0 }
      if helps[verb] == nil {
        let result = try Program.run("\(verb) --help-hidden")
        #expect(result.status == 0, "\(path): \(verb): \(result.errors)")
        helps[verb] = result.output
      }
      for word in call where word.hasPrefix("--") {
        let option = word.prefix { $0 != "=" }
        let isThere = helps[verb]?.contains(try Regex("[ /\\[(]\(option)[ ,/\\n\\])]")) == true
        #expect(isThere, "\(path): \(call[0]) has no \(option)")
      }
    }
  }

  @Test(
    "The keys of JSON documents in the reference are those of the schemas",
    .enabled(if: PythonScript.isPresent, "needs python3"))
  func keys() throws {
    let result = try PythonScript.run([Self.file("docs/schemas/keys.py").string, "--check"])
    #expect(result.status == 0, "\(result.output)")
  }
}

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

@Suite("The picture of the modules", .runsPrograms)
struct ModulesPictureTests {
  private let root = Fixtures.projectRoot

  @Test(
    "docs/modules.svg is what docs/modules.py draws from Package.swift",
    .enabled(if: PythonScript.isPresent, "no python3"))
  func picture() throws {
    try PythonScript.run([root.appending("docs/modules.py").string, "--check"]).succeeds()
  }

  @Test("Every module has a row in ARCHITECTURE.md and a README")
  func described() throws {
    let text = try root.appending("ARCHITECTURE.md").text()
    let rows = text.lines.filter { $0.hasPrefix("| `") }
      .compactMap { $0.split(separator: "|").first }
    let named = Set(
      rows.flatMap { $0.split { !$0.isLetter && !$0.isNumber && $0 != "-" }.map(String.init) })
    let sources = root.appending("Sources")
    let modules = try FileSystem.names(in: sources).filter {
      FileSystem.isFolder(sources.appending($0))
    }
    #expect(modules.count > 12)
    for module in modules {
      #expect(named.contains(module), "\(module) has no row")
      let files = try FileSystem.names(in: sources.appending(module))
      #expect(files.contains("README.md") || files.contains("module.modulemap"), "\(module)")
    }
  }

  @Test("The three walks name types that exist, each at most twenty")
  func walks() throws {
    let text = try root.appending("ARCHITECTURE.md").text()
    let section = try #require(text.components(separatedBy: "## Three walks").last)
      .components(separatedBy: "\n## ")[0]
    let walks = section.components(separatedBy: "\n**").dropFirst()
    #expect(walks.count == 3)
    let declared = SwiftSource.all.values.reduce(into: Set<String>()) { $0.formUnion($1.declared) }
    for walk in walks {
      let quoted = walk.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }
      let types = Set(quoted.map(\.element).filter { $0.first?.isUppercase == true })
      #expect((5...20).contains(types.count), "\(types.sorted())")
      #expect(types.subtracting(declared).isEmpty, "no such types")
    }
  }
}

@Suite("The Makefile")
struct MakefileTests {
  private static func text(_ name: String) throws -> String {
    try Fixtures.projectRoot.appending(name).text()
  }

  @Test("`make help` names every command")
  func help() throws {
    let text = try Self.text("Makefile")
    let line = try #require(text.lines.first { $0.hasPrefix(".PHONY:") })
    let silent: Set = ["help", "setup", "setup-test", "uninstall", "lint"]
    for name in line.split(separator: " ").dropFirst().map(String.init) where !silent.contains(name)
    {
      #expect(text.contains("@echo \"make \(name) "), "\(name)")
    }
  }
}

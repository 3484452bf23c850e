import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("The words of the sources")
struct WordsTests {
  /// Folders of `Sources` that hold Swift.
  private static let modules =
    ((try? FileManager.default.contentsOfDirectory(atPath: sources)) ?? [])
    .filter { module in files(of: module).contains { $0.hasSuffix(".swift") } }.sorted()

  private static let sources = Fixtures.projectRoot.appending("Sources").string

  private static func files(of module: String) -> [String] {
    guard let found = FileManager.default.enumerator(atPath: "\(sources)/\(module)") else {
      return []
    }
    return found.compactMap { $0 as? String }.filter {
      $0.hasSuffix(".swift") || $0.hasSuffix(".md")
    }
  }

  /// Left: a word that readers of the field do not know in this sense; right: the one to use.
  private static let replaced = [
    ("bellpull", "handle"), ("crew", "thread pool"), ("glance", "preview"), ("hush", "drain"),
    ("ledger", "accounting"), ("looker", "scanner"), ("shelf", "store"),
    ("stranger", "unrecognized"),
    ("nobody", "say who or what"), ("somebody", "say who or what"), ("thicket", "noise"),
    ("room", "memory, space or module"),
  ]

  /// Words that comments may use, but types, variables and functions not.
  private static let replacedInNames = [
    ("autopsy", "kill"), ("census", "counts"), ("desk", "coordinator"), ("memo", "cache"),
    ("standing", "condition"), ("standings", "conditions"), ("strangers", "unrecognized"),
    ("suited", "adapted"),
  ]

  /// Names that speak of the rendered room.
  private static let namesOfScene: Set<Substring> = ["emptyRoom", "roomIsEmpty"]

  /// Files whose comments speak of actual rooms and shelves: those of the rendered scene.
  private static func isScene(_ path: String) -> Bool {
    path.contains("/World/") || path.hasSuffix("/Rig.swift")
  }

  @Test("Comments use the words of the field", arguments: modules)
  func comments(module: String) throws {
    let files = Self.files(of: module)
    #expect(!files.isEmpty)
    for file in files where !Self.isScene("/\(module)/\(file)") {
      let text = try FilePath("\(Self.sources)/\(module)/\(file)").text()
      for line in text.lines {
        let comment = file.hasSuffix(".md") ? line : Self.comment(in: line)
        let words = comment.lowercased().split { !$0.isLetter }
        for (word, better) in Self.replaced where words.contains(Substring(word)) {
          Issue.record("\(module)/\(file): '\(word)' (better: \(better)) in \(line)")
        }
      }
    }
  }

  /// Modules that render rooms may name them.
  @Test(
    "Names use the words of the field", arguments: modules.filter { !$0.hasPrefix("Synthetic") })
  func names(module: String) throws {
    let forbidden = Dictionary(
      (Self.replaced + Self.replacedInNames).map { (Substring($0.0), $0.1) },
      uniquingKeysWith: { $1 })
    for file in Self.files(of: module) where file.hasSuffix(".swift") {
      let source = try #require(SwiftSource.all["\(module)/\(file)"])
      let name = file.split(separator: "/").last?.prefix { $0 != "." } ?? ""
      for identifier in source.words.union([name])
      where !Self.namesOfScene.contains(identifier) {
        for word in Self.words(of: identifier) {
          guard let better = forbidden[Substring(word)] else { continue }
          Issue.record("\(module)/\(file): '\(word)' (better: \(better)) in \(identifier)")
        }
      }
    }
  }

  @Test("Identifiers are found outside of comments and literals, and split into words")
  func splitting() {
    let source = SwiftSource(
      """
      let deskOf = "shelf \\(memo) \\" room" // ledger
      /* census */ case HTTPRoom2x
      """)
    #expect(source.words == ["let", "deskOf", "memo", "case", "HTTPRoom2x"])
    #expect(Self.words(of: "deskOfHTTPRoom_2x") == ["desk", "of", "http", "room", "x"])
  }

  /// The comment of a line that has nothing else; empty for other lines.
  private static func comment(in line: Substring) -> Substring {
    let text = line.drop { $0 == " " }
    return text.hasPrefix("//") ? text : ""
  }

  /// The words of `camelCase` and `HTTPServer`, in lower case.
  private static func words(of identifier: Substring) -> [String] {
    var words: [String] = []
    var word = ""
    let letters = Array(identifier)
    for (index, letter) in letters.enumerated() {
      let next = index + 1 < letters.count ? letters[index + 1] : nil
      let begins =
        letter.isUppercase && (word.last?.isLowercase == true || next?.isLowercase == true)
      if begins || !letter.isLetter, !word.isEmpty {
        words.append(word.lowercased())
        word = ""
      }
      if letter.isLetter { word.append(letter) }
    }
    return word.isEmpty ? words : words + [word.lowercased()]
  }
}

import Foundation
import Storage
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
  private static let namesOfScene: Set<Substring> = ["emptyRoom", "roomIsEmpty", "meshFromRoom"]

  /// Files whose comments speak of actual rooms and shelves: those of the rendered scene.
  private static func isScene(_ path: String) -> Bool {
    path.contains("/World/") || path.hasSuffix("/Rig.swift")
  }

  @Test("Comments use the words of the field", arguments: modules)
  func comments(module: String) throws {
    let files = Self.files(of: module)
    #expect(!files.isEmpty)
    for file in files where !Self.isScene("/\(module)/\(file)") {
      let text = try String(contentsOfFile: "\(Self.sources)/\(module)/\(file)", encoding: .utf8)
      for line in text.split(separator: "\n") {
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
      let text = try String(contentsOfFile: "\(Self.sources)/\(module)/\(file)", encoding: .utf8)
      let name = file.split(separator: "/").last?.prefix { $0 != "." } ?? ""
      for identifier in Self.identifiers(in: text).union([name])
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
    let text = """
      let deskOf = "shelf \\(memo) \\" room" // ledger
      /* census */ case HTTPRoom2x
      """
    #expect(Self.identifiers(in: text) == ["let", "deskOf", "case", "HTTPRoom2x"])
    #expect(Self.words(of: "deskOfHTTPRoom_2x") == ["desk", "of", "http", "room", "x"])
  }

  /// The comment of a line that has nothing else; empty for other lines.
  private static func comment(in line: Substring) -> Substring {
    let text = line.drop { $0 == " " }
    return text.hasPrefix("//") ? text : ""
  }

  /// The identifiers of Swift text, keywords included; without those in comments and in string literals.
  private static func identifiers(in text: String) -> Set<Substring> {
    var found: Set<Substring> = []
    let bytes = Array(text.utf8)
    var place = 0
    while place < bytes.count {
      if begins("//", bytes, place) {
        while place < bytes.count, bytes[place] != UInt8(ascii: "\n") { place += 1 }
      } else if begins("/*", bytes, place) {
        while place < bytes.count, !begins("*/", bytes, place) { place += 1 }
        place += 2
      } else if bytes[place] == UInt8(ascii: "\"") {
        place = endOfLiteral(bytes, place)
      } else if isOfName(bytes[place]) {
        let start = place
        while place < bytes.count, isOfName(bytes[place]) { place += 1 }
        found.insert(Substring(decoding: bytes[start..<place], as: UTF8.self))
      } else {
        place += 1
      }
    }
    return found
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
    default: false
    }
  }

  private static func begins(_ text: StaticString, _ bytes: [UInt8], _ place: Int) -> Bool {
    guard place + text.utf8CodeUnitCount <= bytes.count else { return false }
    return (0..<text.utf8CodeUnitCount).allSatisfy { bytes[place + $0] == text.utf8Start[$0] }
  }

  /// Behind the literal that begins at `start`; what its interpolations name is not looked at.
  private static func endOfLiteral(_ bytes: [UInt8], _ start: Int) -> Int {
    let isLong = begins("\"\"\"", bytes, start)
    var place = start + (isLong ? 3 : 1)
    while place < bytes.count {
      if isLong, begins("\"\"\"", bytes, place) { return place + 3 }
      if !isLong, bytes[place] == UInt8(ascii: "\"") { return place + 1 }
      if !isLong, bytes[place] == UInt8(ascii: "\n") { return place }
      if begins("\\(", bytes, place) {
        place = endOfInterpolation(bytes, place + 2)
      } else {
        place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
      }
    }
    return place
  }

  /// Behind the parenthesis that closes the interpolation whose content begins at `start`.
  private static func endOfInterpolation(_ bytes: [UInt8], _ start: Int) -> Int {
    var place = start
    var depth = 1
    while place < bytes.count, depth > 0 {
      switch bytes[place] {
      case UInt8(ascii: "\""):
        place = endOfLiteral(bytes, place)
        continue
      case UInt8(ascii: "("): depth += 1
      case UInt8(ascii: ")"): depth -= 1
      default: break
      }
      place += 1
    }
    return place
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

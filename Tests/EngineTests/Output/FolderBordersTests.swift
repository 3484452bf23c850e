import Foundation
import SystemPackage
import TestSupport
import Testing

/// The borders between folders of a module. The compiler does not know them, so the sources are read as text.
@Suite("Borders between the folders of a module")
struct FolderBordersTests {
  /// A folder, and those of its neighbors whose types its files may name.
  struct Rule: CustomTestStringConvertible, Sendable {
    /// The folder above, below `Sources`.
    var module: String
    var folder: String
    var mayName: [String]

    init(_ module: String, _ folder: String, mayName: [String] = []) {
      self.module = module
      self.folder = folder
      self.mayName = mayName
    }

    var path: String { "\(module)/\(folder)/" }
    var testDescription: String {
      "\(module)/\(folder) may name \(mayName.isEmpty ? "no neighbor" : mayName.joined(separator: ", "))"
    }
  }

  /// The README of each module states the same.
  static let rules = [
    Rule("Core", "Geometry"),
    Rule("Core", "Parallel"),
    Rule("Core", "Storage"),
    Rule("Core", "Markup", mayName: ["Storage"]),
    Rule("Core", "Processes", mayName: ["Parallel", "Storage"]),
    Rule("Engine", "Pipeline"),
    Rule("Engine", "Output", mayName: ["Pipeline"]),
    Rule("Engine", "Runner", mayName: ["Pipeline", "Output"]),
    Rule("Engine", "Catalog", mayName: ["Pipeline", "Output", "Runner"]),
    Rule("Engine/Runner", "Engine"),
    Rule("Engine/Runner", "Inspection", mayName: ["Engine"]),
    Rule("Engine/Runner", "Verbs", mayName: ["Engine", "Inspection"]),
    Rule("Stages", "Stages"),
    Rule("Stages", "Exports", mayName: ["Stages"]),
    Rule("Pages", "Reports"),
    Rule("Pages", "Pages", mayName: ["Reports"]),
  ]

  @Test("A folder names types of those neighbors only that its rule allows", arguments: rules)
  func border(rule: Rule) {
    let own = Self.files(below: rule.path)
    #expect(!own.isEmpty)
    let ownNames = own.reduce(into: Set<String>()) { $0.formUnion($1.value.declared) }
    for other in Self.rules where other.module == rule.module && other.folder != rule.folder {
      guard !rule.mayName.contains(other.folder) else { continue }
      let types = Self.files(below: other.path)
        .reduce(into: Set<String>()) { $0.formUnion($1.value.outermost) }
      #expect(!types.isEmpty, "\(other.path) declares nothing")
      // Which of two equal names a file means cannot be told from its text.
      let foreign = types.subtracting(ownNames)
      for (name, source) in own {
        let found = source.used.intersection(foreign)
        #expect(found.isEmpty, "\(name) names \(found.sorted()) of \(other.folder)")
      }
    }
  }

  @Test("The folders of a module with borders all have a rule")
  func folders() throws {
    for module in Set(Self.rules.map(\.module)) {
      let folder = Fixtures.projectRoot.appending("Sources").appending(module).string
      let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: "\(folder)/\($0)", isDirectory: &isFolder)
          && isFolder.boolValue
      }
      let ruled = Set(Self.rules.filter { $0.module == module }.map(\.folder))
      #expect(Set(names) == ruled, "\(module)")
    }
  }

  @Test("The comparison finds names: a folder names types of a neighbor that it may name")
  func finds() {
    for rule in Self.rules where !rule.mayName.isEmpty {
      let types = rule.mayName.reduce(into: Set<String>()) { types, neighbor in
        for file in Self.files(below: "\(rule.module)/\(neighbor)/").values {
          types.formUnion(file.outermost)
        }
      }
      let used = Self.files(below: rule.path)
        .reduce(into: Set<String>()) { $0.formUnion($1.value.used) }
      #expect(!types.isDisjoint(with: used), "\(rule.path)")
    }
  }

  @Test(
    "Comments and texts do not count, what is interpolated does",
    arguments: [
      ("let a = B() // C", ["B"]), ("/* C /* D */ E */ F()", ["F"]),
      (#"f("C \(D(e: "E")) F")"#, ["D"]),
      ("f(#\"C \\(D) \\#(E)\"#)", ["E"]), ("x.C + D.E", ["D"]),
      ("\"\"\"\n  C\n  \\(D)\n\"\"\"\nE()", ["D", "E"]),
    ])
  func text(source: String, used: [String]) {
    #expect(Source(source).used == Set(used))
  }

  @Test("Declarations are found at the outermost level and inside of types")
  func declarations() {
    let source = Source(
      """
      public struct A {
        enum B { case c }
      }
      private final class D {}
      import struct E.F
      extension G { typealias H = Int }
      package indirect enum I {}
      """)
    #expect(source.outermost == ["A", "I"])
    #expect(source.declared == ["A", "B", "D", "H", "I"])
  }

  // MARK: Sources

  private static func files(below path: String) -> [String: Source] {
    sources.filter { $0.key.hasPrefix(path) }
  }

  /// The files of all modules with borders, by the path below `Sources`.
  private static let sources: [String: Source] = {
    let root = Fixtures.projectRoot.appending("Sources").string
    var found: [String: Source] = [:]
    for module in Set(rules.map(\.module)) where !module.contains("/") {
      let names = FileManager.default.enumerator(atPath: "\(root)/\(module)")
      while let name = names?.nextObject() as? String {
        guard name.hasSuffix(".swift"),
          let text = try? String(contentsOfFile: "\(root)/\(module)/\(name)", encoding: .utf8)
        else { continue }
        found["\(module)/\(name)"] = Source(text)
      }
    }
    return found
  }()
}

/// The names of types in a Swift file, found without a parser.
private struct Source: Sendable {
  /// Types that other files can name: declared at the outermost level and not private.
  private(set) var outermost: Set<String> = []
  /// All types that are declared anywhere in the file.
  private(set) var declared: Set<String> = []
  /// Words that begin with a capital letter and do not follow a dot.
  private(set) var used: Set<String> = []

  private static let kinds: Set<Substring> = [
    "struct", "class", "enum", "actor", "protocol", "typealias", "associatedtype",
  ]
  private static let modifiers: Set<Substring> = [
    "public", "package", "internal", "open", "final", "indirect",
  ]

  init(_ text: String) {
    var code = CodeText(Array(text.utf8))
    for line in code.stripped.split(separator: "\n") {
      let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
      for (kind, name) in zip(words, words.dropFirst()) where Self.kinds.contains(kind) {
        guard words.first != "import", name.first?.isUppercase == true else { continue }
        declared.insert(String(name))
        let before = words.prefix { !Self.kinds.contains($0) }
        if line.first?.isLetter == true, before.allSatisfy(Self.modifiers.contains) {
          outermost.insert(String(name))
        }
      }
      collectUses(line)
    }
  }

  private mutating func collectUses(_ line: Substring) {
    let bytes = Array(line.utf8)
    var index = 0
    while index < bytes.count {
      let start = index
      while index < bytes.count, Self.isWord(bytes[index]) { index += 1 }
      guard index > start else {
        index += 1
        continue
      }
      let isMember = start > 0 && bytes[start - 1] == UInt8(ascii: ".")
      if !isMember, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(bytes[start]) {
        used.insert(String(decoding: bytes[start..<index], as: UTF8.self))
      }
    }
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}

/// Swift source without its comments and string literals. Interpolated expressions stay.
private struct CodeText {
  private let text: [UInt8]
  private var index = 0
  private var code: [UInt8] = []

  init(_ text: [UInt8]) { self.text = text }

  var stripped: String {
    mutating get {
      readCode(untilParenthesis: false)
      return String(decoding: code, as: UTF8.self)
    }
  }

  private func isAt(_ mark: StaticString) -> Bool {
    let end = index + mark.utf8CodeUnitCount
    guard end <= text.count else { return false }
    return mark.withUTF8Buffer { $0.elementsEqual(text[index..<end]) }
  }

  private mutating func readCode(untilParenthesis: Bool) {
    var depth = 0
    while index < text.count {
      if isAt("//") {
        while index < text.count, text[index] != UInt8(ascii: "\n") { index += 1 }
      } else if isAt("/*") {
        skipComment()
      } else if let hashes = hashesOfLiteral {
        readLiteral(hashes)
      } else {
        let byte = text[index]
        index += 1
        if untilParenthesis, byte == UInt8(ascii: "(") { depth += 1 }
        if untilParenthesis, byte == UInt8(ascii: ")") {
          if depth == 0 { return }
          depth -= 1
        }
        code.append(byte)
      }
    }
  }

  private mutating func skipComment() {
    var depth = 0
    repeat {
      if isAt("/*") {
        depth += 1
        index += 2
      } else if isAt("*/") {
        depth -= 1
        index += 2
      } else {
        index += 1
      }
    } while depth > 0 && index < text.count
  }

  /// The number of `#` before the quote of a string literal that begins here; `nil` where none begins.
  private var hashesOfLiteral: Int? {
    var end = index
    while end < text.count, text[end] == UInt8(ascii: "#") { end += 1 }
    return end < text.count && text[end] == UInt8(ascii: "\"") ? end - index : nil
  }

  private mutating func readLiteral(_ hashes: Int) {
    index += hashes
    let isLong = isAt("\"\"\"")
    index += isLong ? 3 : 1
    while index < text.count {
      let byte = text[index]
      if byte == UInt8(ascii: "\""), !isLong || isAt("\"\"\""),
        hasHashes(hashes, after: isLong ? 3 : 1)
      {
        index += (isLong ? 3 : 1) + hashes
        break
      }
      // A short literal ends with its line; what looked like one was part of a regular expression.
      if byte == UInt8(ascii: "\n"), !isLong { break }
      guard byte == UInt8(ascii: "\\"), hasHashes(hashes, after: 1) else {
        index += 1
        continue
      }
      index += 1 + hashes
      let isInterpolation = index < text.count && text[index] == UInt8(ascii: "(")
      index += 1
      if isInterpolation {
        code.append(UInt8(ascii: " "))
        readCode(untilParenthesis: true)
        code.append(UInt8(ascii: " "))
      }
    }
    code.append(UInt8(ascii: " "))
  }

  private func hasHashes(_ count: Int, after length: Int) -> Bool {
    let start = index + length
    guard start + count <= text.count else { return false }
    return text[start..<start + count].allSatisfy { $0 == UInt8(ascii: "#") }
  }
}

import Foundation
import SystemPackage

/// The names in a Swift file, found without a parser.
public struct SwiftSource: Sendable {
  /// Those of the project, by the path below `Sources`.
  public static let all: [String: SwiftSource] = {
    let root = Fixtures.projectRoot.appending("Sources").string
    var found: [String: SwiftSource] = [:]
    let names = FileManager.default.enumerator(atPath: root)
    while let name = names?.nextObject() as? String {
      guard name.hasSuffix(".swift"),
        let text = try? String(contentsOfFile: "\(root)/\(name)", encoding: .utf8)
      else { continue }
      found[name] = SwiftSource(text)
    }
    return found
  }()

  /// Types that other files can name: declared at the outermost level and not private.
  public private(set) var outermost: Set<String> = []
  /// All types that are declared anywhere in the file.
  public private(set) var declared: Set<String> = []
  /// Words outside of comments and string literals, keywords included.
  public private(set) var words: Set<Substring> = []
  /// Words that begin with a capital letter and do not follow a dot.
  public private(set) var used: Set<String> = []

  private static let kinds: Set<Substring> = [
    "struct", "class", "enum", "actor", "protocol", "typealias", "associatedtype",
  ]
  private static let modifiers: Set<Substring> = [
    "public", "package", "internal", "open", "final", "indirect",
  ]

  public init(_ text: String) {
    var code = CodeText(Array(text.utf8))
    for line in code.stripped.split(separator: "\n") {
      let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
      self.words.formUnion(words)
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

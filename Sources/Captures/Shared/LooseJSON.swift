import Core
import FoundationEssentials
import Glibc
import SystemPackage

/// The members of a JSON object as texts, for the small files that apps write once per frame:
/// thousands of them are read at opening, and their decimal numbers must stay exact.
///
/// Reads also `NaN` and `inf` in any case, which C's `printf` writes. Of two members with one name
/// the last counts. Cost: one pass over the bytes.
package struct LooseJSON: Sendable {
  private let bytes: [UInt8]
  private var values: [String: Range<Int>] = [:]

  /// `nil` unless `bytes` are one whole object, with brackets nested as `InputLimits` allows.
  init?(_ bytes: [UInt8]) {
    self.bytes = bytes
    guard let values = bytes.withUnsafeBytes(Self.members) else { return nil }
    self.values = values
  }

  func contains(_ key: String) -> Bool { values[key] != nil }

  /// The text of a value; `nil` without the key.
  func text(of key: String) -> ArraySlice<UInt8>? { values[key].map { bytes[$0] } }

  /// The text of a number, a finite one or not, also one in quotes, as tools write it that keep
  /// all digits; `nil` for other values.
  func number(_ key: String) -> Substring? {
    guard let range = values[key] else { return nil }
    let number = Self.unquoted(bytes[range])
    return Self.isNumber(number) ? Substring(decoding: number, as: UTF8.self) : nil
  }

  /// The text of a string without its quotes; any other value as it is.
  static func unquoted<Text: BidirectionalCollection<UInt8>>(_ value: Text) -> Text.SubSequence {
    let isText = value.first == UInt8(ascii: "\"")
    return isText ? value.dropFirst().dropLast() : value[...]
  }

  /// A finite number.
  func finite(_ key: String) -> Double? {
    number(key).flatMap { Self.number(String($0)) }.flatMap { $0.isFinite ? $0 : nil }
  }

  /// A finite number that is an integer.
  func integer(_ key: String) -> Int? { finite(key).flatMap(Int.init(exactly:)) }

  func flag(_ key: String) -> Bool? {
    guard let range = values[key] else { return nil }
    if bytes[range].elementsEqual("true".utf8) { return true }
    return bytes[range].elementsEqual("false".utf8) ? false : nil
  }

  /// A string with its escapes resolved.
  func text(_ key: String) -> String? {
    values[key].flatMap { Self.value(String.self, in: bytes[$0]) }
  }

  /// The numbers of a flat list, non-finite ones included; `nil` if it has anything else.
  func numbers(_ key: String) -> [Double]? {
    guard let range = values[key], bytes[range.lowerBound] == UInt8(ascii: "[") else { return nil }
    return Self.numbers(String(decoding: bytes[range], as: UTF8.self))
  }

  private enum Expected {
    case value, valueOrClose, key, keyOrClose, colon, commaOrClose, nothing
  }

  private static func members(_ bytes: UnsafeRawBufferPointer) -> [String: Range<Int>]? {
    var values: [String: Range<Int>] = [:]
    var open: [UInt8] = []
    var expected = Expected.value
    var key = ""
    var start = 0
    func end(at offset: Int) {
      if open.count == 1 { values[key] = start..<offset }
      expected = open.isEmpty ? .nothing : .commaOrClose
    }
    for token in Tokens(bytes) {
      let first = bytes[token.range.lowerBound]
      let isValue = expected == .value || expected == .valueOrClose
      switch token.kind {
      case .open:
        // The outermost value must be an object.
        guard isValue, !open.isEmpty || first == UInt8(ascii: "{"),
          open.count < InputLimits.depthOfJSON.most
        else { return nil }
        if open.count == 1 { start = token.range.lowerBound }
        open.append(first)
        expected = first == UInt8(ascii: "{") ? .keyOrClose : .valueOrClose
      case .close:
        // A brace or bracket and its partner differ by 2, here and below.
        guard expected == .commaOrClose || expected == .keyOrClose || expected == .valueOrClose,
          let partner = open.popLast(), partner + 2 == first
        else { return nil }
        end(at: token.range.upperBound)
      case .comma:
        guard expected == .commaOrClose else { return nil }
        expected = open.last == UInt8(ascii: "{") ? .key : .value
      case .colon:
        guard expected == .colon else { return nil }
        expected = .value
      case .string:
        if expected == .key || expected == .keyOrClose {
          if open.count == 1 {
            let name = token.range.dropFirst().dropLast()
            key = String(decoding: bytes[name.startIndex..<name.endIndex], as: UTF8.self)
          }
          expected = .colon
        } else {
          guard isValue, !open.isEmpty else { return nil }
          if open.count == 1 { start = token.range.lowerBound }
          end(at: token.range.upperBound)
        }
      case .word:
        let word = bytes[token.range]
        guard isValue, !open.isEmpty,
          isNumber(word) || constants.contains(where: word.elementsEqual)
        else { return nil }
        if open.count == 1 { start = token.range.lowerBound }
        end(at: token.range.upperBound)
      case .cutString: return nil
      }
    }
    return expected == .nothing ? values : nil
  }

  private static let constants = ["true", "false", "null"].map { Array($0.utf8) }
  private static let nonFinite = ["nan", "inf", "infinity"].map { Array($0.utf8) }

  private static func isNumber(_ word: some Collection<UInt8>) -> Bool {
    guard let first = word.first else { return false }
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    let isSigned = first == UInt8(ascii: "-") || first == UInt8(ascii: "+")
    let rest = isSigned ? word.dropFirst() : word.dropFirst(0)
    guard let start = rest.first else { return false }
    guard digits.contains(start) || start == UInt8(ascii: ".") else {
      return nonFinite.contains { $0.elementsEqual(rest.lazy.map { $0 | 0x20 }) }
    }
    return rest.allSatisfy { byte in
      digits.contains(byte) || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains(byte)
    }
  }
}

/// Documents that are decoded as a whole. The decoder is recursive, so the nesting depth is checked
/// first.
extension LooseJSON {
  /// Decodes a whole file; `path` is for messages.
  ///
  /// Throws `FileError` if brackets are nested too deeply, else the errors of the decoder. Cost in
  /// addition to decoding: a pass over the bytes.
  package static func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: some Collection<UInt8>, of path: FilePath,
    _ decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    try InputLimits.depthOfJSON.check(depth(of: bytes), of: path)
    return try decoder.decode(type, from: Data(bytes))
  }

  /// Decodes a part of a text; `nil` if it cannot be decoded.
  static func value<Value: Decodable>(
    _ type: Value.Type, in bytes: some Collection<UInt8>, _ decoder: JSONDecoder = JSONDecoder()
  ) -> Value? {
    guard depth(of: bytes) <= InputLimits.depthOfJSON.most else { return nil }
    return try? decoder.decode(type, from: Data(bytes))
  }

  /// Greatest nesting of brackets and braces outside strings; stops counting above the limit.
  static func depth(of bytes: some Collection<UInt8>) -> Int {
    bytes.withContiguousStorageIfAvailable { deepest(in: UnsafeRawBufferPointer($0)) }
      ?? Array(bytes).withUnsafeBytes { deepest(in: $0) }
  }

  private static func deepest(in bytes: UnsafeRawBufferPointer) -> Int {
    var deepest = 0
    var depth = 0
    for token in Tokens(bytes) {
      switch token.kind {
      case .open:
        depth += 1
        deepest = max(deepest, depth)
        if deepest > InputLimits.depthOfJSON.most { return deepest }
      case .close: depth -= 1
      default: break
      }
    }
    return deepest
  }
}

/// Documents that people write: of two members with one name decoders take one and say nothing.
extension LooseJSON {
  /// The first key that an object states twice, with the keys above it: `depthIntrinsics.fx`; `nil` without one.
  ///
  /// - Parameter bytes: valid JSON. Cost: one pass.
  static func repeatedKey(in bytes: [UInt8]) -> String? {
    var open: [(isObject: Bool, keys: Set<String>, key: String)] = []
    var isKey = false
    return bytes.withUnsafeBytes { bytes in
      for token in Tokens(bytes) {
        switch token.kind {
        case .open:
          isKey = bytes[token.range.lowerBound] == UInt8(ascii: "{")
          open.append((isKey, [], ""))
        case .close:
          isKey = false
          _ = open.popLast()
        case .comma: isKey = open.last?.isObject ?? false
        case .string where isKey:
          isKey = false
          let key = String(decoding: bytes[token.range].dropFirst().dropLast(), as: UTF8.self)
          open[open.count - 1].key = key
          if !open[open.count - 1].keys.insert(key).inserted {
            return open.map(\.key).filter { !$0.isEmpty }.joined(separator: ".")
          }
        case .colon, .string, .word, .cutString: break
        }
      }
      return nil
    }
  }
}

/// Documents that are cut: incomplete copies, apps that were killed while writing.
extension LooseJSON {
  /// The document up to its last complete entry, with all brackets closed; `nil` when no entry is
  /// complete or the document is not cut.
  ///
  /// - Parameter depth: nesting depth of entries: 1 for the members of the outermost object or
  ///   list, 2 for those of a list inside it. Deeper values are kept completely or not at all.
  ///
  /// Zero bytes, which a copy leaves for parts that it never wrote, count as the end. Cost: one
  /// pass.
  static func closed(_ document: Data, entriesAtDepth depth: Int = 1) -> Data? {
    let last: End? = document.withUnsafeBytes { lastEntry(in: $0, depth: depth) }
    guard let last else { return nil }
    return Data(document.prefix(last.offset)) + Data(last.open.reversed().map { $0 + 2 })
  }

  /// The end of the last complete entry, and the brackets that are open there.
  private struct End {
    var offset: Int
    var open: [UInt8]
  }

  private static func lastEntry(in bytes: UnsafeRawBufferPointer, depth: Int) -> End? {
    var last: End?
    var open: [UInt8] = []
    // Whether a string that ends now is a value: always in a list, after a colon in an object.
    var isValue = false
    let written = bytes.firstIndex(of: 0) ?? bytes.count
    for token in Tokens(UnsafeRawBufferPointer(rebasing: bytes[..<written])) {
      let byte = bytes[token.range.lowerBound]
      switch token.kind {
      case .string:
        let isEntry = isValue || open.last == UInt8(ascii: "[")
        if isEntry, open.count <= depth { last = End(offset: token.range.upperBound, open: open) }
      case .colon: isValue = true
      case .comma:
        isValue = false
        // Before the comma: the entry after it is not complete yet.
        if !open.isEmpty, open.count <= depth {
          last = End(offset: token.range.lowerBound, open: open)
        }
      case .open:
        isValue = false
        open.append(byte)
      case .close:
        guard let bracket = open.popLast(), bracket + 2 == byte, !open.isEmpty else {
          return nil
        }
        isValue = false
        if open.count <= depth { last = End(offset: token.range.upperBound, open: open) }
      // A number may go on in the part that is lost.
      case .word, .cutString: break
      }
    }
    return last
  }

}

/// JSON as Python's `json` writes it, with the bare words `NaN`, `Infinity` and `-Infinity`.
///
/// Foundation's own JSON5 reader is not used, because it traps on keys that are not UTF-8, and on
/// some numbers (seen with Swift 6.3).
extension LooseJSON {
  /// The document with each such word outside strings quoted, which `pythonDecoder` reads as a number;
  /// `nil` when it has none. Cost: one pass.
  static func quoted(_ document: Data) -> Data? {
    var result = Data(capacity: document.count + 256)
    var copied = 0
    document.withUnsafeBytes { bytes in
      for token in Tokens(bytes) where token.kind == .word {
        let word = bytes[token.range]
        guard words.contains(where: { word.elementsEqual($0) }) else { continue }
        result.append(contentsOf: bytes[copied..<token.range.lowerBound])
        result.append(UInt8(ascii: "\""))
        result.append(contentsOf: word)
        result.append(UInt8(ascii: "\""))
        copied = token.range.upperBound
      }
      if copied > 0 { result.append(contentsOf: bytes[copied...]) }
    }
    return copied > 0 ? result : nil
  }

  /// A decoder for the result of `quoted`.
  static var pythonDecoder: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    return decoder
  }

  private static let words = ["NaN", "Infinity", "-Infinity"].map { Array($0.utf8) }
}

/// Lists of numbers as Swift prints them: `[-0.12042544, 1e-05, nan, -inf]`.
///
/// Apps that write arrays by string interpolation produce non-finite numbers this way, which is not
/// JSON.
extension LooseJSON {
  /// The numbers of a bracketed, comma-separated list in order, non-finite ones and those in quotes
  /// included; `nil` when the brackets or a number are missing. `[]` is the empty list.
  static func numbers(_ text: String) -> [Double]? {
    text.withCString { start in
      var at = start
      guard skip("[", &at) else { return nil }
      var numbers: [Double] = []
      if skip("]", &at) { return isEnd(at) ? numbers : nil }
      numbers.reserveCapacity(16)
      while true {
        let isText = skip("\"", &at)
        guard let number = scan(&at), !isText || skip("\"", &at) else { return nil }
        numbers.append(number)
        if skip("]", &at) { return isEnd(at) ? numbers : nil }
        guard skip(",", &at) else { return nil }
      }
    }
  }

  /// Parses one number with optional surrounding blanks.
  static func number(_ text: String) -> Double? {
    text.withCString { start in
      var at = start
      guard let number = scan(&at), isEnd(at) else { return nil }
      return number
    }
  }

  /// Parses the number at `at` and advances past it. The C library's conversion is exact, accepts
  /// `nan` and `inf` and skips blanks; the program never leaves the locale whose decimal point is a
  /// point.
  private static func scan(_ at: inout UnsafePointer<CChar>) -> Double? {
    var end: UnsafeMutablePointer<CChar>?
    let number = strtod(at, &end)
    guard let end, UnsafePointer(end) != at else { return nil }
    at = UnsafePointer(end)
    return number
  }

  /// Skips blanks, and then `character` if it follows.
  private static func skip(_ character: Unicode.Scalar, _ at: inout UnsafePointer<CChar>) -> Bool {
    skipBlanks(&at)
    guard at.pointee == CChar(truncatingIfNeeded: character.value) else { return false }
    at += 1
    return true
  }

  private static func skipBlanks(_ at: inout UnsafePointer<CChar>) {
    while at.pointee == 0x20 || (0x09...0x0D).contains(at.pointee) { at += 1 }
  }

  private static func isEnd(_ at: UnsafePointer<CChar>) -> Bool {
    var at = at
    skipBlanks(&at)
    return at.pointee == 0
  }
}

/// The key of a JSON object.
struct TextKey: CodingKey, ExpressibleByStringLiteral {
  var stringValue: String
  var intValue: Int? { nil }
  init(stringValue: String) { self.stringValue = stringValue }
  init(stringLiteral value: String) { stringValue = value }
  init?(intValue: Int) { nil }
}

extension KeyedDecodingContainer<TextKey> {
  /// The value of a key; `nil` if it lacks, or is of another kind.
  func value<Value: Decodable>(_ key: Key) -> Value? { try? decode(Value.self, forKey: key) }

  /// A number, or a text that is one.
  func number(_ key: Key) -> Double? {
    value(key) ?? (value(key) as String?).flatMap(LooseJSON.number)
  }
}

extension Decoder {
  /// The members of an object, for types that take what they can read of it.
  var members: KeyedDecodingContainer<TextKey> {
    get throws { try container(keyedBy: TextKey.self) }
  }
}

extension LooseJSON {
  /// The tokens of a JSON text, in order: the one scanner for whoever looks at JSON without decoding it.
  ///
  /// It refuses nothing and does not check that brackets match, so it also reads what is cut, damaged or no
  /// JSON at all. Cost: one pass over the bytes, no memory.
  struct Tokens: Sequence, IteratorProtocol {
    enum Kind: Hashable {
      /// `{` or `[`.
      case open
      /// `}` or `]`.
      case close
      case comma
      case colon
      /// A string with its quotation marks. Escaped characters in it, and brackets, are part of it.
      case string
      /// A string whose closing quotation mark is missing: the last token.
      case cutString
      /// A number, `true`, `false`, `null`, or whatever else stands outside of strings without a space.
      case word
    }

    struct Token: Hashable {
      var kind: Kind
      /// The place of the token in the text.
      var range: Range<Int>
    }

    private let bytes: UnsafeRawBufferPointer
    private var offset: Int

    /// - Parameter offset: where to begin. It must lie outside of strings.
    init(_ bytes: UnsafeRawBufferPointer, from offset: Int = 0) {
      self.bytes = bytes
      self.offset = offset
    }

    mutating func next() -> Token? {
      while offset < bytes.count {
        let start = offset
        offset += 1
        switch bytes[start] {
        case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): continue
        case UInt8(ascii: "{"), UInt8(ascii: "["): return Token(kind: .open, range: start..<offset)
        case UInt8(ascii: "}"), UInt8(ascii: "]"): return Token(kind: .close, range: start..<offset)
        case UInt8(ascii: ","): return Token(kind: .comma, range: start..<offset)
        case UInt8(ascii: ":"): return Token(kind: .colon, range: start..<offset)
        case UInt8(ascii: "\""):
          let isClosed = skipString()
          return Token(kind: isClosed ? .string : .cutString, range: start..<offset)
        default:
          while offset < bytes.count, Self.isPartOfWord(bytes[offset]) { offset += 1 }
          return Token(kind: .word, range: start..<offset)
        }
      }
      return nil
    }

    /// Goes behind the quotation mark that ends a string, or to the end of the text; `false` for the latter.
    private mutating func skipString() -> Bool {
      while offset < bytes.count {
        let byte = bytes[offset]
        offset += 1
        if byte == UInt8(ascii: "\"") { return true }
        if byte == UInt8(ascii: "\\"), offset < bytes.count { offset += 1 }
      }
      return false
    }

    private static func isPartOfWord(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"),
        UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "}"), UInt8(ascii: "]"),
        UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "\""):
        false
      default: true
      }
    }
  }
}

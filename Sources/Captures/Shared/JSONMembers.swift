import Core

/// The members of a JSON object as texts, for the small files that apps write once per frame:
/// thousands of them are read at opening, and their decimal numbers must stay exact.
///
/// Reads also `NaN` and `inf` in any case, which C's `printf` writes. Of two members with one name
/// the last counts. Cost: one pass over the bytes.
struct JSONMembers: Sendable {
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

  /// The text of a number, a finite one or not; `nil` for other values.
  func number(_ key: String) -> Substring? {
    guard let range = values[key], Self.isNumber(bytes[range]) else { return nil }
    return Substring(decoding: bytes[range], as: UTF8.self)
  }

  /// A finite number.
  func finite(_ key: String) -> Double? {
    number(key).flatMap { NumberList.number(String($0)) }.flatMap { $0.isFinite ? $0 : nil }
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
    values[key].flatMap { BoundedJSON.value(String.self, in: bytes[$0]) }
  }

  /// The numbers of a flat list, non-finite ones included; `nil` if it has anything else.
  func numbers(_ key: String) -> [Double]? {
    guard let range = values[key], bytes[range.lowerBound] == UInt8(ascii: "[") else { return nil }
    return NumberList.parse(String(decoding: bytes[range], as: UTF8.self))
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
    for token in JSONTokens(bytes) {
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
        // A brace or bracket and its partner differ by 2.
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

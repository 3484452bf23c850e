/// The tokens of a JSON text, in order: the one scanner for whoever looks at JSON without decoding it.
///
/// It refuses nothing and does not check that brackets match, so it also reads what is cut, damaged or no
/// JSON at all. Cost: one pass over the bytes, no memory.
struct JSONTokens: Sequence, IteratorProtocol {
  enum Kind: Hashable, Sendable {
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

  struct Token: Hashable, Sendable {
    var kind: Kind
    /// Where it stands in the text.
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

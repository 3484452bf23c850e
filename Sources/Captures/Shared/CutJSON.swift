import FoundationEssentials

/// Repairs JSON documents that are cut: incomplete copies, apps that were killed while writing.
enum CutJSON {
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
    return Data(document.prefix(last.offset)) + Data(last.open.reversed().map { closer($0) })
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
    for token in JSONTokens(UnsafeRawBufferPointer(rebasing: bytes[..<written])) {
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
        guard let bracket = open.popLast(), closer(bracket) == byte, !open.isEmpty else {
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

  private static func closer(_ bracket: UInt8) -> UInt8 {
    bracket == UInt8(ascii: "{") ? UInt8(ascii: "}") : UInt8(ascii: "]")
  }
}

import FoundationEssentials

/// Reads JSON as Python's `json` writes it: with the bare words `NaN`, `Infinity` and `-Infinity`.
///
/// Foundation's own JSON5 reader is not used, because it traps on keys that are not UTF-8, and on
/// some numbers (seen with Swift 6.3).
enum PythonJSON {
  /// The document with each such word outside strings quoted, which `decoder` reads as a number;
  /// `nil` when it has none. Cost: one pass.
  static func quoted(_ document: Data) -> Data? {
    var result = Data(capacity: document.count + 256)
    var copied = 0
    document.withUnsafeBytes { bytes in
      for token in JSONTokens(bytes) where token.kind == .word {
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
  static func decoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    return decoder
  }

  private static let words = ["NaN", "Infinity", "-Infinity"].map { Array($0.utf8) }
}

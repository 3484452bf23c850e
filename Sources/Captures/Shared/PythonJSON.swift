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
    var wordsQuoted = 0
    document.withUnsafeBytes { bytes in
      var offset = 0
      var isInString = false
      while offset < bytes.count {
        let byte = bytes[offset]
        if isInString {
          result.append(byte)
          offset += 1
          if byte == UInt8(ascii: "\\"), offset < bytes.count {
            result.append(bytes[offset])
            offset += 1
          } else if byte == UInt8(ascii: "\"") {
            isInString = false
          }
        } else if let word = words.first(where: { bytes[offset...].starts(with: $0) }) {
          result.append(UInt8(ascii: "\""))
          result.append(contentsOf: word)
          result.append(UInt8(ascii: "\""))
          offset += word.count
          wordsQuoted += 1
        } else {
          isInString = byte == UInt8(ascii: "\"")
          result.append(byte)
          offset += 1
        }
      }
    }
    return wordsQuoted > 0 ? result : nil
  }

  /// A decoder for the result of `quoted`.
  static func decoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    return decoder
  }

  /// `-Infinity` first, because it ends with `Infinity`.
  private static let words = ["-Infinity", "Infinity", "NaN"].map { Array($0.utf8) }
}

import FoundationEssentials

/// JSON as Python's `json` writes it: with the bare words `NaN`, `Infinity` and `-Infinity`.
///
/// Foundation's own JSON5 reader is not used for it: it traps on bytes that are not UTF-8 in a key, and on
/// some texts of numbers (seen with Swift 6.3).
enum PythonJSON {
  /// The document with each such word outside a string in quotes, which `decoder` reads as a number;
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

  /// Reads what `quoted` returns.
  static func decoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    return decoder
  }

  /// The longer one first where one ends with another.
  private static let words = ["-Infinity", "Infinity", "NaN"].map { Array($0.utf8) }
}

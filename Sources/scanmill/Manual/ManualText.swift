/// Converts text to mdoc(7), the language of manual pages.
enum ManualText {
  /// Lines for filling: each sentence begins on a new line, and lines have at most 78 bytes if
  /// there is a space to break at. Words between backticks become bold.
  static func prose(_ text: String) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in words(text) {
      if !line.isEmpty, endsSentence(line) || line.utf8.count + word.utf8.count > 77 {
        lines.append(line)
        line = ""
      }
      line += line.isEmpty ? word : " " + word
    }
    if !line.isEmpty { lines.append(line) }
    return lines.map(protected)
  }

  /// Paragraphs; those in which all lines are indented are literal.
  static func paragraphs(_ text: String) -> [String] {
    var pieces: [String] = []
    for paragraph in blocks(text) {
      if !pieces.isEmpty { pieces.append(".Pp") }
      if paragraph.allSatisfy({ $0.hasPrefix("  ") }) {
        pieces += [".Bd -literal -compact"] + paragraph.map { protected(escaped($0)) } + [".Ed"]
      } else {
        pieces += prose(paragraph.joined(separator: " "))
      }
    }
    return pieces
  }

  /// A single macro argument for any text.
  static func argument(_ text: String) -> String {
    let plain = escaped(text).replacing("\"", with: "\\(dq")
    // Quoting protects words that are macros, punctuation and spaces.
    let isWord =
      plain.utf8.count > 3
      && plain.utf8.allSatisfy { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 }
    return isWord ? plain : "\"\(plain)\""
  }

  /// Escapes characters that the formatter interprets, and non-ASCII characters. `-` remains an
  /// ASCII hyphen, as shells need it.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "'": result += "\\(aq"
      case "`": result += "\\(ga"
      case "^": result += "\\(ha"
      case "~": result += "\\(ti"
      case _ where scalar.isASCII: result.unicodeScalars.append(scalar)
      default:
        let digits = String(scalar.value, radix: 16, uppercase: true)
        let filled = String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
        result += "\\[u\(filled)]"
      }
    }
    return result
  }

  /// Escaped words; those between backticks in bold.
  private static func words(_ text: String) -> [String] {
    var isCode = false
    var words: [String] = []
    for (index, piece) in text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
    {
      isCode = index % 2 == 1
      let parts = piece.split(separator: " ", omittingEmptySubsequences: false).map {
        $0.isEmpty ? "" : isCode ? "\\fB\(escaped(String($0)))\\fR" : escaped(String($0))
      }
      // The first part belongs to the preceding word.
      if let first = parts.first {
        if words.isEmpty { words.append(first) } else { words[words.count - 1] += first }
        words += parts.dropFirst()
      }
    }
    return words.filter { !$0.isEmpty }
  }

  private static func endsSentence(_ line: String) -> Bool {
    [".", "?", "!", ".)"].contains { line.hasSuffix($0) }
      && !["e.g.", "i.e."].contains { line.hasSuffix($0) }
  }

  /// Protects a line that begins with a control character.
  private static func protected(_ line: String) -> String {
    line.hasPrefix(".") || line.hasPrefix("\\(aq") || line.hasPrefix("'") ? "\\&" + line : line
  }

  private static func blocks(_ text: String) -> [[String]] {
    var blocks: [[String]] = [[]]
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      if line.allSatisfy({ $0 == " " }) {
        blocks.append([])
      } else {
        blocks[blocks.count - 1].append(line)
      }
    }
    return blocks.filter { !$0.isEmpty }
  }
}

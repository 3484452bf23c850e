/// Text in the language of manual pages, mdoc(7).
enum ManualText {
  /// Lines that a formatter fills: one sentence begins on each, none is longer than 78 bytes where there is a
  /// blank to break it at. Words between backticks are set in bold.
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

  /// Paragraphs; one whose lines are indented is shown as it stands.
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

  /// One argument of a macro, whatever stands in it.
  static func argument(_ text: String) -> String {
    let plain = escaped(text).replacing("\"", with: "\\(dq")
    // Words that are macros themselves, punctuation alone, and blanks have to be told apart from the rest.
    let isWord =
      plain.utf8.count > 3
      && plain.utf8.allSatisfy { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 }
    return isWord ? plain : "\"\(plain)\""
  }

  /// What a formatter would take for its own, and what is not ASCII, as escapes. `-` stays the character that
  /// shells know.
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

  /// Words of prose, escaped; what stood between backticks in bold.
  private static func words(_ text: String) -> [String] {
    var isCode = false
    var words: [String] = []
    for (index, piece) in text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
    {
      isCode = index % 2 == 1
      let parts = piece.split(separator: " ", omittingEmptySubsequences: false).map {
        $0.isEmpty ? "" : isCode ? "\\fB\(escaped(String($0)))\\fR" : escaped(String($0))
      }
      // The first part belongs to the word before it.
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

  /// A line that begins with a control character is no macro.
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

/// Text from file names, metadata and foreign messages, made safe for terminals and pages.
///
/// Control characters, marks of writing direction and separators that some displays treat as line
/// ends are shown as `\u{1B}`; name bytes that are not text as `%XX`. The text then cannot move the
/// cursor, change colors, rename a window, or make a line look like two lines or like another one.
extension String {
  /// For text that may have several lines and tabs: all other control characters are escaped.
  public var shown: String { escaped { $0 == "\n" || $0 == "\t" } }

  /// For a name or value within a line: line ends and tabs are escaped too.
  public var onOneLine: String { escaped { _ in false } }

  /// JSON text with the same meaning. DEL, C1 controls and direction marks are escaped as `\u009b`:
  /// JSON allows them in strings, but terminals may interpret them. Valid JSON has none outside of
  /// strings.
  public var shownAsJSON: String {
    // Line ends of the JSON itself are no reason for a look at every character.
    guard utf8.contains(where: { $0 >= 0x7F && Self.mayControl($0) }) else { return self }
    var text = ""
    for scalar in unicodeScalars {
      if scalar.value >= 0x7F, Self.controls(scalar) {
        let hex = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: max(0, 4 - hex.count)) + hex
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  private func escaped(except isAllowed: (Unicode.Scalar) -> Bool) -> String {
    // Most texts need no escapes, which one pass over the bytes shows.
    guard utf8.contains(where: Self.mayControl) else { return self }
    var text = ""
    for scalar in unicodeScalars {
      if PathText.byte(scalar) != nil {
        text += PathText.shown(String(scalar))
      } else if Self.controls(scalar), !isAllowed(scalar) {
        text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  /// Whether a UTF-8 byte can belong to a character that is escaped.
  private static func mayControl(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == 0x7F || byte == 0xC2 || byte == 0xD8 || byte == 0xE2
      || byte == 0xF4
  }

  private static func controls(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0: true  // C0, DEL, C1
    case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true  // direction of writing
    case 0x2028, 0x2029: true  // line and paragraph separator
    default: false
    }
  }
}

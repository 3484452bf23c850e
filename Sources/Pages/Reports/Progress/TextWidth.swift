/// Width of text in terminal columns.
enum TextWidth {
  /// Wide scripts and emoji take two columns, combining marks none. The text must not contain
  /// control characters.
  static func columns(_ text: some StringProtocol) -> Int {
    text.unicodeScalars.reduce(0) { $0 + columns($1) }
  }

  /// The longest prefix that fits, with `…` in its last column if cut.
  static func cut(_ text: String, to most: Int) -> String {
    guard columns(text) > most else { return text }
    guard most > 0 else { return "" }
    var used = 1
    var kept = ""
    for character in text {
      let width = columns(String(character))
      if used + width > most { break }
      used += width
      kept.append(character)
    }
    return kept + "…"
  }

  /// The text padded with blanks, or cut.
  static func fit(_ text: String, to count: Int) -> String {
    let cut = cut(text, to: count)
    return cut + String(repeating: " ", count: max(0, count - columns(cut)))
  }

  private static func columns(_ scalar: Unicode.Scalar) -> Int {
    if scalar.value < 0x300 { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return isWide(scalar.value) ? 2 : 1
    }
  }

  /// Whether the scalar is in a wide block of Unicode's East Asian Width, roughly.
  private static func isWide(_ value: UInt32) -> Bool {
    switch value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
      0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
      0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      true
    default: false
    }
  }
}

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
    escaped { scalar in
      guard scalar.value >= 0x7F, Self.controls(scalar) else { return nil }
      return "\\u" + scalar.value.padded(4, radix: 16)
    }
  }

  private func escaped(except isAllowed: (Unicode.Scalar) -> Bool) -> String {
    escaped { scalar in
      if PathText.byte(scalar) != nil { return PathText.shown(String(scalar)) }
      guard Self.controls(scalar), !isAllowed(scalar) else { return nil }
      return "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    }
  }

  /// Every character with what `escape` gives in its place, if it gives anything. Asked for those of which a byte may
  /// be one of a control character. Cost: one pass over the bytes, and a copy where something is escaped.
  private func escaped(_ escape: (Unicode.Scalar) -> String?) -> String {
    var text = self
    return text.withUTF8 { bytes in
      var shown: [UInt8] = []
      // All bytes before `start` are in `shown` already.
      var (start, position) = (0, 0)
      while position < bytes.count {
        guard Self.mayControl(bytes[position]) else {
          position += 1
          continue
        }
        let length = Self.length(ofCharacterAt: bytes[position])
        let character = bytes[position..<min(position + length, bytes.count)]
        if let scalar = String(decoding: character, as: UTF8.self).unicodeScalars.first,
          let text = escape(scalar)
        {
          shown += bytes[start..<position]
          shown += text.utf8
          start = position + length
        }
        position += length
      }
      guard start > 0 else { return self }
      shown += bytes[min(start, bytes.count)...]
      return String(decoding: shown, as: UTF8.self)
    }
  }

  /// By the first byte of a character in UTF-8.
  private static func length(ofCharacterAt byte: UInt8) -> Int {
    switch byte {
    case 0xF0...: 4
    case 0xE0...: 3
    case 0xC0...: 2
    default: 1
    }
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

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

/// Lengths of time as readable text. Negative ones are 0; what is not finite counts as the longest that is told.
public enum DurationText {
  /// `31 s`, `2 min 05 s`, `1 h 12 min`: rounded up to whole seconds, cut to minutes from an hour on. At most
  /// `833 h 20 min`.
  public static func text(_ seconds: Double) -> String {
    let whole = Int(min(max(seconds, 0), 3e6).rounded(.up))
    if whole < 60 { return "\(whole) s" }
    if whole < 3600 { return "\(whole / 60) min \((whole % 60).padded(2)) s" }
    return "\(whole / 3600) h \((whole / 60 % 60).padded(2)) min"
  }

  /// Formats a measured time: as `text`, with one decimal below ten seconds.
  public static func measured(_ seconds: Double) -> String {
    seconds < 9.95 ? "\(NumberText.short(seconds)) s" : text(seconds)
  }

  /// `31 s`, `12 min`, `1 h 5 min`: for what is only estimated. At most 1e9 seconds.
  public static func estimated(_ seconds: Double) -> String {
    let whole = Int(min(max(seconds, 0), 1e9).rounded(.up))
    if whole < 60 { return "\(whole) s" }
    if whole < 3600 { return "\(whole / 60) min" }
    return "\(whole / 3600) h \(whole % 3600 / 60) min"
  }
}

/// Numbers as readable text.
public enum NumberText {
  /// `1,204`.
  public static func grouped(_ number: Int) -> String {
    (number < 0 ? "-" : "") + grouped(digits: "\(number.magnitude)"[...])
  }

  /// The digits of a whole number with commas between thousands.
  public static func grouped(digits: Substring) -> String {
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return text
  }

  /// One decimal below 100, none above; negative numbers become 0, what is not finite `?`. At most 1e15.
  public static func short(_ value: Double) -> String {
    guard value.isFinite else { return "?" }
    let value = min(max(value, 0), 1e15)
    let tenths = Int((value * 10).rounded())
    return tenths < 1000 ? "\(tenths / 10).\(tenths % 10)" : "\(Int(value.rounded()))"
  }
}

/// Finds the known name closest to a misspelled one.
public enum NearestName {
  /// `nil` if none is close, so that more than two letters and a third of them would change, or all.
  public static func find(_ name: String, among known: some Sequence<String>) -> String? {
    let best = known.map { (distance(name.lowercased(), $0.lowercased()), $0) }
      .min { ($0.0, $0.1) < ($1.0, $1.1) }
    guard let best, best.0 <= max(2, name.count / 3), best.0 < name.count else { return nil }
    return best.1
  }

  /// `", did you mean 'x'?"`, or an empty text.
  public static func suggestion(_ name: String, among known: some Sequence<String>) -> String {
    find(name, among: known).map { ", did you mean '\($0)'?" } ?? ""
  }

  /// Levenshtein distance.
  static func distance(_ a: String, _ b: String) -> Int {
    let (a, b) = (Array(a), Array(b))
    var row = Array(0...b.count)
    for (i, letter) in a.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, other) in b.enumerated() {
        let above = row[j + 1]
        row[j + 1] = min(above + 1, row[j] + 1, diagonal + (letter == other ? 0 : 1))
        diagonal = above
      }
    }
    return row[b.count]
  }
}

/// Classes of bytes of text.
extension UInt8 {
  /// `0` to `9`.
  public var isDigit: Bool { (0x30...0x39).contains(self) }

  /// Digits, and `a` to `f` in either case.
  public var isHexDigit: Bool { isDigit || (0x61...0x66).contains(self | 0x20) }

  /// Digits, and `a` to `z` in either case.
  public var isLetterOrDigit: Bool { isDigit || (0x61...0x7A).contains(self | 0x20) }
}

import Core

/// The wall-clock start in the name of a session's folder.
///
/// The app writes `session_2026-01-24T10:00:00Z`; copies replace the colons by `-`, `_`, `.`,
/// `%3A`, a similar character or nothing. `recording_20260124_100000_1a2b3c4d` and
/// `20260124_100000` are local times.
struct VISLAMSessionName {
  private var rest: Substring

  /// `2026-01-24T10:00:00Z`, without `Z` if the name has no time zone; `nil` when the name does not
  /// parse. Fractions of a second are dropped: the name is precise to a second at best.
  static func recordedAt(_ folderName: String) -> String? {
    var name = VISLAMSessionName(rest: folderName.lowercased()[...])
    return name.parse()
  }

  private mutating func parse() -> String? {
    if !skip("session_") { skip("recording_") }
    guard let year = number(digits: 4) else { return nil }
    skip("-")
    guard let month = number(digits: 2) else { return nil }
    skip("-")
    guard let day = number(digits: 2), skip("t") || skip("_") || skip(" "),
      let hour = number(digits: 2)
    else { return nil }
    skipSeparator()
    guard let minute = number(digits: 2) else { return nil }
    skipSeparator()
    guard let second = number(digits: 2) else { return nil }
    skipFraction()
    let local = "\(year)-\(month)-\(day)T\(hour):\(minute):\(second)"
    let isUTC = skip("z")
    let minutesEast = isUTC ? 0 : offset()
    guard rest.isEmpty || isRecordingSuffix else { return nil }
    // A date that does not exist (February 30) would be formatted differently.
    guard let moment = ISOTime(local), UTCText.text(seconds: moment.seconds) == local + "Z" else {
      return nil
    }
    guard let minutesEast else { return local }
    return UTCText.text(seconds: moment.seconds - Int64(60 * minutesEast))
  }

  /// Whether it is `_` and 8 hex digits, which distinguish recordings of the same second.
  private var isRecordingSuffix: Bool {
    rest.first == "_" && rest.dropFirst().count == 8
      && rest.dropFirst().allSatisfy { $0.isASCII && $0.isHexDigit }
  }

  @discardableResult
  private mutating func skip(_ text: String) -> Bool {
    guard rest.hasPrefix(text) else { return false }
    rest = rest.dropFirst(text.count)
    return true
  }

  /// Skips any one character that is not a digit, or the encoded form of a colon.
  private mutating func skipSeparator() {
    if !skip("%3a"), let first = rest.first, !Self.isDigit(first) { rest = rest.dropFirst() }
  }

  private mutating func skipFraction() {
    guard let point = rest.first, point == "." || point == ",",
      rest.dropFirst().first.map(Self.isDigit) == true
    else { return }
    rest = rest.dropFirst().drop(while: Self.isDigit)
  }

  /// Parses `+0130`, `-08:00`, `+01` as minutes east of Greenwich; skips nothing and returns `nil`
  /// without one.
  private mutating func offset() -> Int? {
    let start = rest
    let isWest = skip("-")
    guard isWest || skip("+"), let hours = number(digits: 2).flatMap({ Int($0) }), hours <= 14
    else {
      rest = start
      return nil
    }
    var minutes = 0
    let afterHours = rest
    skipSeparator()
    if let written = number(digits: 2).flatMap({ Int($0) }), written < 60 {
      minutes = written
    } else {
      rest = afterHours
    }
    return (isWest ? -1 : 1) * (hours * 60 + minutes)
  }

  /// The next `digits` characters, if they are digits.
  private mutating func number(digits: Int) -> Substring? {
    let text = rest.prefix(digits)
    guard text.count == digits, text.allSatisfy(Self.isDigit) else { return nil }
    rest = rest.dropFirst(digits)
    return text
  }

  private static func isDigit(_ character: Character) -> Bool {
    character.isASCII && character.isNumber
  }
}

/// A time as ISO 8601 writes it, read: `2026-11-20T22:00:00Z`, with a fraction of any length, with `+01:00`,
/// `+0100` or `+01` in place of `Z`, or without a zone. The one parser of such texts.
///
/// Days that a month does not have (February 30) and the second 60 count on into what follows them.
public struct ISOTime: Hashable, Sendable {
  /// Whole seconds since 1970, in UTC; without a zone as if the text were in UTC.
  public let seconds: Int64
  /// Nanoseconds behind them; further digits are dropped.
  public let fraction: Int64
  /// How far the zone of the text is ahead of UTC; `nil` without one.
  public let secondsEast: Int64?

  /// Nanoseconds since 1970; `nil` outside the years 1678 … 2261.
  public var nanoseconds: Int64? {
    let (whole, isTooFar) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflow) = whole.addingReportingOverflow(fraction)
    return isTooFar || overflow ? nil : sum
  }

  /// `nil` for anything else, also with something behind it.
  public init?(_ text: some StringProtocol) {
    let bytes = Array(text.utf8)
    guard bytes.count >= 19, let year = Self.number(bytes[0..<4]), bytes[4] == UInt8(ascii: "-"),
      let month = Self.number(bytes[5..<7]), bytes[7] == UInt8(ascii: "-"),
      let day = Self.number(bytes[8..<10]), bytes[10] == UInt8(ascii: "T"),
      let hour = Self.number(bytes[11..<13]), bytes[13] == UInt8(ascii: ":"),
      let minute = Self.number(bytes[14..<16]), bytes[16] == UInt8(ascii: ":"),
      let second = Self.number(bytes[17..<19]), (1...12).contains(month), (1...31).contains(day),
      hour <= 24, minute <= 59, second <= 60
    else { return nil }
    var rest = bytes[19...]
    guard let fraction = Self.takeFraction(&rest), let zone = Self.zone(rest) else { return nil }
    self.fraction = fraction
    secondsEast = zone.secondsEast
    seconds =
      CivilDay(year: year, month: month, day: day).number * 86_400 + hour * 3600 + minute * 60
      + second - (zone.secondsEast ?? 0)
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
    guard digits.allSatisfy(\.isDigit) else { return nil }
    return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
  }

  /// 0 without one; `nil` for a point without digits.
  private static func takeFraction(_ rest: inout ArraySlice<UInt8>) -> Int64? {
    guard rest.first == UInt8(ascii: ".") else { return 0 }
    rest = rest.dropFirst()
    let digits = rest.prefix(while: \.isDigit)
    rest = rest.dropFirst(digits.count)
    guard !digits.isEmpty else { return nil }
    return (digits + [UInt8](repeating: 0x30, count: 9)).prefix(9).reduce(0) {
      $0 * 10 + Int64($1 - 0x30)
    }
  }

  /// Parses a zone; `nil` if there is no valid one, `secondsEast` is `nil` if the text has none.
  private static func zone(_ text: ArraySlice<UInt8>) -> (secondsEast: Int64?, Void)? {
    guard let sign = text.first else { return (nil, ()) }
    if text.elementsEqual([UInt8(ascii: "Z")]) { return (0, ()) }
    guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return nil }
    let digits = text.dropFirst()
    let minutes = digits.dropFirst(digits.dropFirst(2).first == UInt8(ascii: ":") ? 3 : 2)
    guard digits.count >= 2, minutes.count == 2 || digits.count == 2,
      let hours = number(digits.prefix(2)), let minutes = number(minutes), hours <= 23,
      minutes <= 59
    else { return nil }
    let seconds = hours * 3600 + minutes * 60
    return (sign == UInt8(ascii: "-") ? -seconds : seconds, ())
  }
}

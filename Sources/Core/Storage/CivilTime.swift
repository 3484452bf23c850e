import Glibc

/// Times as journals and records write them, in UTC: the one formatter of ISO 8601. `ISOTime` reads them.
public enum UTCText {
  /// Whole seconds: `2026-11-20T22:00:00Z`.
  public static func text(seconds: Int64) -> String { upToSecond(seconds) + "Z" }

  /// Whole seconds, the fraction dropped: `2026-11-20T22:00:00Z`.
  public static func text(nanoseconds: Int64) -> String {
    text(seconds: floorDivided(nanoseconds, by: 1_000_000_000))
  }

  /// `2026-11-20T22:00:00.123Z`.
  public static func text(milliseconds: Int64) -> String {
    let seconds = floorDivided(milliseconds, by: 1000)
    return upToSecond(seconds) + "." + (milliseconds - seconds * 1000).padded(3) + "Z"
  }

  /// `2026-11-20`.
  public static func day(nanoseconds: Int64) -> String {
    CivilDay(number: floorDivided(nanoseconds, by: 86_400_000_000_000)).text
  }

  /// Nanoseconds since 1970; `nil` for what is no time. A time without zone counts as UTC.
  public static func nanoseconds(_ text: String) -> Int64? { ISOTime(text)?.nanoseconds }

  /// Never negative; 0 where one of them is no time.
  public static func seconds(from start: String, to end: String) -> Double {
    guard let start = nanoseconds(start), let end = nanoseconds(end) else { return 0 }
    return Double(max(0, end &- start)) / 1e9
  }

  private static func upToSecond(_ seconds: Int64) -> String {
    let day = floorDivided(seconds, by: 86_400)
    let rest = seconds - day * 86_400
    let clock = [rest / 3600, rest / 60 % 60, rest % 60].map { $0.padded(2) }
    return CivilDay(number: day).text + "T" + clock.joined(separator: ":")
  }

  private static func floorDivided(_ value: Int64, by divisor: Int64) -> Int64 {
    let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? quotient - 1 : quotient
  }

  /// With nine digits of the fraction, which `nanoseconds(_:)` reads back exactly:
  /// `2026-11-20T22:00:00.123456789Z`.
  public static func exact(nanoseconds: Int64) -> String {
    let fraction = ((nanoseconds % 1_000_000_000) + 1_000_000_000) % 1_000_000_000
    return text(nanoseconds: nanoseconds).dropLast() + "." + fraction.padded(9) + "Z"
  }
}

extension BinaryInteger {
  /// Its digits, with zeros in front where there are fewer than `digits`.
  @inlinable
  public func padded(_ digits: Int, radix: Int = 10) -> String {
    let text = radix == 10 ? description : String(self, radix: radix)
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
  }
}

/// A day of the Gregorian calendar.
public struct CivilDay: Hashable, Sendable {
  public let year: Int64
  /// 1 … 12.
  public let month: Int64
  /// 1 … 31.
  public let day: Int64

  public init(year: Int64, month: Int64, day: Int64) {
    (self.year, self.month, self.day) = (year, month, day)
  }

  public init(_ parts: tm) {
    self.init(
      year: Int64(parts.tm_year) + 1900, month: Int64(parts.tm_mon) + 1, day: Int64(parts.tm_mday))
  }

  /// - Parameter number: days since January 1, 1970.
  public init(number: Int64) {
    // H. Hinnant, "chrono-Compatible Low-Level Date Algorithms": years begin in March.
    let shifted = number + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// Days since January 1, 1970; a day that its month does not have counts on into the next month.
  public var number: Int64 {
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
    let yearOfEra = shiftedYear - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// `Nov`.
  public var monthName: String {
    let names = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    return names.indices.contains(Int(month) - 1) ? names[Int(month) - 1] : "?"
  }

  /// `20 Nov`.
  public var dayAndMonth: String { "\(day) \(monthName)" }

  /// `2026-11-20`.
  public var text: String {
    year.padded(4) + "-" + month.padded(2) + "-" + day.padded(2)
  }
}

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

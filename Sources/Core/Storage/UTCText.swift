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

  /// Two digits: `07`.
  public static func two(_ number: some BinaryInteger) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }

  private static func upToSecond(_ seconds: Int64) -> String {
    let day = floorDivided(seconds, by: 86_400)
    let rest = seconds - day * 86_400
    return CivilDay(number: day).text + "T" + two(rest / 3600) + ":" + two(rest / 60 % 60) + ":"
      + two(rest % 60)
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

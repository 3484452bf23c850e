import Core
import Glibc

/// Moments as people write them: `2026-11-20`, `2026-11-20T22:00`, `2026-11-20T22:00:30` in local time,
/// or a duration back from now (`24h`, `7d`).
public enum MomentText {
  /// Nanoseconds since 1970; `nil` for what is no moment. A day that does not exist is none.
  public static func nanoseconds(_ text: String, nowNanoseconds: Int64) -> Int64? {
    if let back = durationNanoseconds(text) {
      let (then, overflow) = nowNanoseconds.subtractingReportingOverflow(back)
      return overflow ? nil : then
    }
    guard let parts = parts(of: text) else { return nil }
    var time = tm()
    (time.tm_year, time.tm_mon, time.tm_mday) = (parts[0] - 1900, parts[1] - 1, parts[2])
    (time.tm_hour, time.tm_min, time.tm_sec) = (parts[3], parts[4], parts[5])
    time.tm_isdst = -1
    let seconds = mktime(&time)
    guard time.tm_mday == parts[2], time.tm_mon == parts[1] - 1 else { return nil }
    let (whole, overflow) = Int64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? nil : whole
  }

  /// Year, month, day, hour, minute, second, each in its range.
  private static func parts(of text: String) -> [Int32]? {
    let halves = text.split(separator: "T", omittingEmptySubsequences: false)
    let day = halves.first?.split(separator: "-", omittingEmptySubsequences: false) ?? []
    let time =
      halves.count < 2
      ? [] : halves[1].split(separator: ":", omittingEmptySubsequences: false)
    guard halves.count <= 2, day.map(\.utf8.count) == [4, 2, 2],
      halves.count == 1 || (2...3).contains(time.count), time.allSatisfy({ $0.utf8.count == 2 }),
      (day + time).joined().utf8.allSatisfy(\.isDigit)
    else { return nil }
    var numbers = (day + time).compactMap { Int32($0) }
    numbers += [Int32](repeating: 0, count: max(0, 6 - numbers.count))
    let most: [Int32] = [9999, 12, 31, 23, 59, 59]
    return numbers.count == 6 && zip(numbers, most).allSatisfy({ $0 <= $1 }) ? numbers : nil
  }

  /// Nanoseconds of a duration as in `DurationSyntax`, or in days (`90d`).
  public static func durationNanoseconds(_ text: String) -> Int64? {
    guard text.hasSuffix("d") else { return DurationSyntax.nanoseconds(text) }
    guard let hours = DurationSyntax.nanoseconds(text.dropLast() + "h") else { return nil }
    let (days, overflow) = hours.multipliedReportingOverflow(by: 24)
    return overflow ? nil : days
  }
}

/// Nights: from one local noon to the next.
public enum NightClock {
  private static func local(_ nanoseconds: Int64) -> tm {
    var seconds = time_t(nanoseconds / 1_000_000_000)
    var time = tm()
    localtime_r(&seconds, &time)
    return time
  }

  /// The last local noon before or at a moment: nanoseconds since 1970. Days of 23 and 25 hours have one
  /// noon as well.
  public static func lastNoon(before nanoseconds: Int64) -> Int64 {
    var time = local(nanoseconds)
    if time.tm_hour < 12 { time.tm_mday -= 1 }
    (time.tm_hour, time.tm_min, time.tm_sec, time.tm_isdst) = (12, 0, 0, -1)
    return Int64(mktime(&time)) &* 1_000_000_000
  }

  /// A time of a record as people read it, in local time: `04:10`, or `24 Nov 04:10` where that is another day
  /// than that of `now`; what is no time stays as it is.
  public static func words(_ text: String, now: Int64) -> String {
    guard let nanoseconds = UTCText.nanoseconds(text) else { return text }
    let time = local(nanoseconds)
    let clock = "\(time.tm_hour.padded(2)):\(time.tm_min.padded(2))"
    let day = CivilDay(time)
    return day == CivilDay(local(now)) ? clock : "\(day.dayAndMonth) \(clock)"
  }

  /// The local day on which the night of a moment began: `2026-11-20`.
  public static func night(of nanoseconds: Int64) -> String {
    CivilDay(local(lastNoon(before: nanoseconds))).text
  }
}

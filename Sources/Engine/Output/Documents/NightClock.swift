import Core
import Glibc

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
    let clock = "\(UTCText.two(time.tm_hour)):\(UTCText.two(time.tm_min))"
    let day = CivilDay(time)
    return day == CivilDay(local(now)) ? clock : "\(day.dayAndMonth) \(clock)"
  }

  /// The local day on which the night of a moment began: `2026-11-20`.
  public static func night(of nanoseconds: Int64) -> String {
    CivilDay(local(lastNoon(before: nanoseconds))).text
  }
}

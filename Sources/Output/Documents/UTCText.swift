#if canImport(Glibc)
  import Glibc
#endif

/// Times as journals and records write them: `2026-11-20T22:00:00.123Z`.
public enum UTCText {
  /// Nanoseconds since 1970; `nil` for what is no such time. Without fraction and without `Z` as well.
  public static func nanoseconds(_ text: String) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 19 else { return nil }
    var numbers: [Int32] = []
    for (start, count) in [(0, 4), (5, 2), (8, 2), (11, 2), (14, 2), (17, 2)] {
      guard let number = Int32(String(decoding: bytes[start..<start + count], as: UTF8.self)),
        number >= 0
      else { return nil }
      numbers.append(number)
    }
    var time = tm()
    (time.tm_year, time.tm_mon, time.tm_mday) = (numbers[0] - 1900, numbers[1] - 1, numbers[2])
    (time.tm_hour, time.tm_min, time.tm_sec) = (numbers[3], numbers[4], numbers[5])
    let (whole, overflow) = Int64(timegm(&time)).multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflow else { return nil }
    var fraction: Int64 = 0
    if bytes.count > 20, bytes[19] == UInt8(ascii: ".") {
      var scale: Int64 = 100_000_000
      for byte in bytes[20...] {
        guard (0x30...0x39).contains(byte), scale > 0 else { break }
        fraction += Int64(byte - 0x30) * scale
        scale /= 10
      }
    }
    return whole &+ fraction
  }

  /// Seconds of UTC, whole: `2026-11-20T22:00:00Z`.
  public static func text(nanoseconds: Int64) -> String {
    var seconds = time_t(nanoseconds / 1_000_000_000)
    var time = tm()
    gmtime_r(&seconds, &time)
    return day(time) + "T" + two(time.tm_hour) + ":" + two(time.tm_min) + ":" + two(time.tm_sec)
      + "Z"
  }

  /// Never negative; 0 where one of them is no time.
  package static func seconds(from start: String, to end: String) -> Double {
    guard let start = nanoseconds(start), let end = nanoseconds(end) else { return 0 }
    return Double(max(0, end &- start)) / 1e9
  }

  package static func day(_ time: tm) -> String {
    let year = String(Int(time.tm_year) + 1900)
    return String(repeating: "0", count: max(0, 4 - year.count)) + year + "-" + two(time.tm_mon + 1)
      + "-" + two(time.tm_mday)
  }

  private static func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
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
    let (time, today) = (local(nanoseconds), local(now))
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let clock = "\(two(time.tm_hour)):\(two(time.tm_min))"
    if time.tm_yday == today.tm_yday, time.tm_year == today.tm_year { return clock }
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    return "\(time.tm_mday) \(months[Int(time.tm_mon) % 12]) \(clock)"
  }

  /// The local day on which the night of a moment began: `2026-11-20`.
  public static func night(of nanoseconds: Int64) -> String {
    UTCText.day(local(lastNoon(before: nanoseconds)))
  }
}

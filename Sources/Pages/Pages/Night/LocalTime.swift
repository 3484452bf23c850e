import Core
import Glibc

/// A time of the journal (UTC, ISO 8601) in the time zone of this machine.
struct LocalTime: Hashable, Comparable {
  /// Seconds since 1970.
  let seconds: Double

  init(seconds: Double) { self.seconds = seconds }

  /// `2026-11-20T22:00:05Z`, with or without a fraction; `nil` for anything else.
  init?(_ text: String) {
    guard let time = ISOTime(text), time.secondsEast == 0 else { return nil }
    seconds = Double(time.seconds) + Double(time.fraction) / 1e9
  }

  static func < (a: LocalTime, b: LocalTime) -> Bool { a.seconds < b.seconds }

  private var parts: tm {
    var time = time_t(min(max(seconds.rounded(.down), -1e11), 1e11))
    var parts = tm()
    localtime_r(&time, &parts)
    return parts
  }

  /// `22:05`.
  var clock: String {
    let parts = parts
    return "\(parts.tm_hour.padded(2)):\(parts.tm_min.padded(2))"
  }

  /// `:09`, which follows `22:05` where two times are in the same minute.
  var secondsOfClock: String { ":\(parts.tm_sec.padded(2))" }

  /// `20 Nov`.
  var day: String { CivilDay(parts).dayAndMonth }

  /// `20 Nov 22:05`.
  var text: String { "\(day) \(clock)" }

  /// `2026-11-20`, the local day.
  var date: String { CivilDay(parts).text }

  /// `04:10`, or `24 Nov 04:10` where that is another day than that of `other`.
  func text(near other: LocalTime?) -> String { other?.date == date ? clock : text }

  /// The text of a time of the journal; other texts are unchanged.
  static func text(_ text: String, near other: LocalTime?) -> String {
    LocalTime(text)?.text(near: other) ?? text
  }

  /// `2026-11-20 22:05`.
  var dated: String { "\(date) \(clock)" }

  /// `CET, UTC+01:00`; of a zone without a name of letters the offset alone.
  var zone: String {
    let name = parts.tm_zone.map { String(cString: $0) } ?? ""
    let isName = !name.isEmpty && name.allSatisfy { $0.isASCII && $0.isLetter }
    if name == "UTC" { return name }
    return isName ? "\(name), \(offset)" : offset
  }

  /// `UTC+01:00`.
  private var offset: String {
    let minutes = parts.tm_gmtoff / 60
    let size = abs(minutes)
    return "UTC" + (minutes < 0 ? "-" : "+") + (size / 60).padded(2) + ":"
      + (size % 60).padded(2)
  }

  /// A time of the journal for people; other texts are unchanged.
  static func text(_ text: String) -> String { LocalTime(text)?.text ?? text }

  /// `2026-11-20 23:00`, in the time zone that the page names, for `2026-11-20T22:00:30.123Z`; a time with another
  /// offset keeps it, other texts are unchanged.
  static func dated(_ moment: String) -> String {
    if let time = LocalTime(moment) { return time.dated }
    let bytes = Array(moment.utf8)
    guard bytes.count >= 16, bytes[10] == UInt8(ascii: "T"), bytes[13] == UInt8(ascii: ":") else {
      return moment
    }
    let time =
      String(decoding: bytes[..<10], as: UTF8.self) + " "
      + String(decoding: bytes[11..<16], as: UTF8.self)
    let rest = bytes[16...].drop { $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }
    return rest.isEmpty ? time : time + " " + String(decoding: rest, as: UTF8.self)
  }
}

/// A day: `2026-11-20`.
struct CalendarDay: Hashable {
  /// Days since 1970.
  let number: Int
  /// `20 Nov`.
  let text: String

  init?(_ date: String) {
    guard let time = ISOTime(date + "T00:00:00") else { return nil }
    self.init(number: Int(time.seconds / 86_400))
  }

  init(number: Int) {
    self.number = number
    text = CivilDay(number: Int64(number)).dayAndMonth
  }
}

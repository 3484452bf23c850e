import Storage

#if canImport(Glibc)
  import Glibc
#endif

/// A time of the journal (UTC, ISO 8601) in the time zone of this machine.
struct LocalTime: Hashable, Comparable, Sendable {
  /// Seconds since 1970.
  let seconds: Double

  init(seconds: Double) { self.seconds = seconds }

  /// `2026-11-20T22:00:05Z`, with or without a fraction; `nil` for anything else.
  init?(_ text: String) {
    let match = text.wholeMatch(
      of: /(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d{1,9})?(?:Z|\+00:?00)/)
    guard let match, let year = Int32(match.1), let month = Int32(match.2),
      let day = Int32(match.3), let hour = Int32(match.4), let minute = Int32(match.5),
      let second = Int32(match.6)
    else { return nil }
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1900, month - 1, day)
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (hour, minute, second)
    seconds = Double(timegm(&parts)) + (match.7.flatMap { Double("0\($0)") } ?? 0)
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
    return "\(Self.two(parts.tm_hour)):\(Self.two(parts.tm_min))"
  }

  /// `20 Nov`.
  var day: String {
    let parts = parts
    return "\(parts.tm_mday) \(Self.month(Int(parts.tm_mon) + 1))"
  }

  /// `20 Nov 22:05`.
  var text: String { "\(day) \(clock)" }

  /// `2026-11-20`, the local day.
  var date: String {
    let parts = parts
    return "\(parts.tm_year + 1900)-\(Self.two(parts.tm_mon + 1))-\(Self.two(parts.tm_mday))"
  }

  /// `04:10`, or `24 Nov 04:10` where that is another day than that of `other`.
  func text(near other: LocalTime?) -> String { other?.date == date ? clock : text }

  /// The same of a time of the journal; other texts are unchanged.
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
    return "UTC" + (minutes < 0 ? "-" : "+") + Self.two(Int32(size / 60)) + ":"
      + Self.two(Int32(size % 60))
  }

  static func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// `Nov`.
  static func month(_ number: Int) -> String {
    let names = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    return names.indices.contains(number - 1) ? names[number - 1] : "?"
  }

  /// A time of the journal for people; other texts are unchanged.
  static func text(_ text: String) -> String { LocalTime(text)?.text ?? text }
}

/// A day: `2026-11-20`.
struct CalendarDay: Hashable, Sendable {
  /// Days since 1970.
  let number: Int
  /// `20 Nov`.
  let text: String

  init?(_ date: String) {
    guard let match = date.wholeMatch(of: /(\d{4})-(\d\d)-(\d\d)/), let year = Int32(match.1),
      let month = Int32(match.2), let day = Int32(match.3)
    else { return nil }
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1900, month - 1, day)
    number = Int(timegm(&parts)) / 86_400
    text = "\(day) \(LocalTime.month(Int(month)))"
  }

  init(number: Int) {
    self.number = number
    var time = time_t(number * 86_400)
    var parts = tm()
    gmtime_r(&time, &parts)
    text = "\(parts.tm_mday) \(LocalTime.month(Int(parts.tm_mon) + 1))"
  }
}

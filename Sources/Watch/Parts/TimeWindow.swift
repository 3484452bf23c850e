import Core
import Glibc

/// The part of every day in which captures are processed: `22:00-06:00`, local time. May pass midnight.
///
/// Depends on nothing but the time that it is given: a clock that is set changes the answer at once. Open
/// from the first time that the clock on the wall shows its beginning to the first time that it shows its
/// end, so that an hour that comes twice neither closes nor opens it a second time.
public struct TimeWindow: Hashable, Sendable, CustomStringConvertible {
  public let start: DailyTime
  /// No longer part of it.
  public let end: DailyTime

  /// `HH:MM-HH:MM`; `nil` for anything else, also for two equal times, which could mean always or never.
  public init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let start = DailyTime(parts[0]), let end = DailyTime(parts[1]),
      start != end
    else { return nil }
    self.start = start
    self.end = end
  }

  public var description: String { "\(start)-\(end)" }

  /// Whether it is open at a moment, in nanoseconds since 1970.
  func isOpen(atNanoseconds now: Int64, zone: LocalZone = .system) -> Bool {
    // The window is open if its end comes before its next start.
    end.next(afterNanoseconds: now, zone: zone) < start.next(afterNanoseconds: now, zone: zone)
  }

  /// How long until it opens; 0 while it is open. A window that lies in an hour that is left out opens on
  /// the next day only: ask again at that time instead of counting on it.
  func secondsUntilOpen(atNanoseconds now: Int64, zone: LocalZone = .system) -> Double {
    if isOpen(atNanoseconds: now, zone: zone) { return 0 }
    let (wait, overflow) = start.next(afterNanoseconds: now, zone: zone)
      .subtractingReportingOverflow(now)
    return overflow ? 86400 : Double(wait) / 1e9
  }
}

/// Where a moment stands on the clock on the wall: a value, so that tests can set the time zone.
struct LocalZone {
  /// How many seconds local time is ahead of UTC at a moment, in seconds since 1970.
  let offsetSeconds: @Sendable (Int64) -> Int64

  /// The zone of the machine (`TZ`, `/etc/localtime`), also when it is changed while the program runs.
  static let system = LocalZone { seconds in
    // Unlike localtime, localtime_r does not look again by itself.
    tzset()
    var (time, parts) = (time_t(seconds), tm())
    return localtime_r(&time, &parts) == nil ? 0 : Int64(parts.tm_gmtoff)
  }

  /// The first moment at which the clock on the wall shows `wall`, in seconds since 1970 as if it were
  /// UTC. Where clocks are put back it shows that twice: the first time counts. Where they are put
  /// forward over it: the moment of the change.
  ///
  /// `mktime` is of no use for this: which of two moments it gives depends on earlier calls.
  func moment(wall: Int64) -> Int64 {
    // No zone is further than 14 h from UTC: a day before and after is before and after any change that
    // concerns this time, also where a whole day was left out.
    let (before, after) = (offsetSeconds(wall - 86400), offsetSeconds(wall + 86400))
    let candidates = [wall - before, wall - after].sorted()
    if let found = candidates.first(where: { $0 + offsetSeconds($0) == wall }) { return found }
    // Left out: the change lies between the two.
    var (low, high) = (candidates[0] - 1, candidates[1])
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if offsetSeconds(middle) == before { low = middle } else { high = middle }
    }
    return high
  }
}

/// A time of the day on the clock on the wall: `06:00`.
public struct DailyTime: Hashable, Sendable, CustomStringConvertible {
  let hour: Int
  let minute: Int

  /// `HH:MM`, from `00:00` to `23:59`; `nil` for anything else.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count == 5, bytes[2] == UInt8(ascii: ":"),
      [0, 1, 3, 4].allSatisfy({ bytes[$0].isDigit })
    else { return nil }
    let digits = bytes.map { Int($0) - 0x30 }
    hour = digits[0] * 10 + digits[1]
    minute = digits[3] * 10 + digits[4]
    guard hour < 24, minute < 60 else { return nil }
  }

  public var description: String {
    [hour, minute].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }

  /// The first such time after a moment, in nanoseconds since 1970. Once on every day of the calendar:
  /// where clocks are put back over it the first time counts, where they are put forward over it the
  /// moment of the change.
  func next(afterNanoseconds now: Int64, zone: LocalZone = .system) -> Int64 {
    // Moments are whole seconds: those after `now` are those after the second that it lies in.
    let seconds = Self.floorDivided(now, by: 1_000_000_000)
    let day = Self.floorDivided(seconds + zone.offsetSeconds(seconds), by: 86400)
    // The day before: where clocks are put back over midnight, its times may still be to come.
    let moments = (-1...3).map { shift in
      zone.moment(wall: (day + shift) * 86400 + Int64(hour * 3600 + minute * 60))
    }
    let next = moments.filter { $0 > seconds }.min() ?? seconds + 86400
    let (nanoseconds, overflow) = next.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? Int64.max : nanoseconds
  }

  private static func floorDivided(_ value: Int64, by unit: Int64) -> Int64 {
    let (quotient, rest) = value.quotientAndRemainder(dividingBy: unit)
    return rest < 0 ? quotient - 1 : quotient
  }
}

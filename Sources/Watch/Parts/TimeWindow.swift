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
  func isOpen(atNanoseconds now: Int64) -> Bool {
    isOpen(atNanoseconds: now, zone: .system)
  }

  func isOpen(atNanoseconds now: Int64, zone: LocalZone) -> Bool {
    // What comes next is its end.
    end.next(afterNanoseconds: now, zone: zone) < start.next(afterNanoseconds: now, zone: zone)
  }

  /// How long until it opens; 0 while it is open. A window that lies in an hour that is left out opens on
  /// the next day only: ask again at that time instead of counting on it.
  func secondsUntilOpen(atNanoseconds now: Int64) -> Double {
    secondsUntilOpen(atNanoseconds: now, zone: .system)
  }

  func secondsUntilOpen(atNanoseconds now: Int64, zone: LocalZone) -> Double {
    if isOpen(atNanoseconds: now, zone: zone) { return 0 }
    let (wait, overflow) = start.next(afterNanoseconds: now, zone: zone)
      .subtractingReportingOverflow(now)
    return overflow ? 86400 : Double(wait) / 1e9
  }
}

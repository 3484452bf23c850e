import Core

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

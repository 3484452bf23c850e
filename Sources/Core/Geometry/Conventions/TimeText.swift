/// Times in the text forms of other tools, made from the integer and never through a floating-point
/// number.
public enum TimeText {
  /// Seconds with nine decimals: quotient and remainder of the nanoseconds. -1 ns is
  /// `-0.000000001`.
  public static func decimalSeconds(_ time: Timestamp) -> String {
    decimalSeconds(nanoseconds: time.nanoseconds)
  }

  /// Seconds with decimals from a count of nanoseconds.
  public static func decimalSeconds(nanoseconds: Int64) -> String {
    let (seconds, rest) = nanoseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000_000)
    return (nanoseconds < 0 ? "-" : "") + String(seconds) + "." + rest.padded(9)
  }

  /// Seconds and nanoseconds as ROS states them: nanoseconds are 0 ..< 10⁹, also for times before
  /// 0.
  public static func secondsAndNanoseconds(_ time: Timestamp) -> (seconds: Int64, rest: UInt32) {
    let (quotient, rest) = time.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return rest < 0 ? (quotient - 1, UInt32(rest + 1_000_000_000)) : (quotient, UInt32(rest))
  }

  /// Whether ROS 1 can represent a time: its seconds are unsigned 32-bit integers.
  public static func isTimeOfROS1(_ time: Timestamp) -> Bool {
    (0..<(1 << 32) * 1_000_000_000).contains(time.nanoseconds)
  }

  /// Decimal digits of a time of at least 0, padded with zeros on the left.
  public static func nanoseconds(_ time: Timestamp, digits: Int) -> String {
    time.nanoseconds.padded(digits)
  }

  /// Microseconds since the clock's zero, rounded down.
  public static func microseconds(_ time: Timestamp) -> Int64 {
    let (quotient, rest) = time.nanoseconds.quotientAndRemainder(dividingBy: 1000)
    return rest < 0 ? quotient - 1 : quotient
  }
}

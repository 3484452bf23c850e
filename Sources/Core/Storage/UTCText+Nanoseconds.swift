extension UTCText {
  /// With nine digits of the fraction, which `nanoseconds(_:)` reads back exactly:
  /// `2026-11-20T22:00:00.123456789Z`.
  public static func exact(nanoseconds: Int64) -> String {
    let fraction = ((nanoseconds % 1_000_000_000) + 1_000_000_000) % 1_000_000_000
    let digits = String(fraction)
    return text(nanoseconds: nanoseconds).dropLast() + "."
      + String(repeating: "0", count: 9 - digits.count) + digits + "Z"
  }
}

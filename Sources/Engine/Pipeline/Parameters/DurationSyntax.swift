import Core

/// Parses and formats durations: `50ms`, `1.5s`, `30m`, `2h`, `250us`, `10ns`.
public enum DurationSyntax {
  private static let units: [(name: String, nanoseconds: Int64)] = [
    ("ns", 1), ("us", 1_000), ("µs", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000),
    ("m", 60_000_000_000), ("min", 60_000_000_000), ("h", 3_600_000_000_000),
  ]

  /// The nearest nanosecond; minutes and hours may have nine decimals. `nil` without a unit, for
  /// negative values, for texts that are not a number, and beyond 292 years.
  public static func nanoseconds(_ text: String) -> Int64? {
    let number = text.prefix { $0.isNumber || $0 == "." }
    let unit = text.dropFirst(number.count).drop { $0 == " " }
    guard let scale = units.first(where: { $0.name == unit })?.nanoseconds else { return nil }
    // In billionths of the unit, so that 1.5s and 0.1ms stay exact.
    guard let billionths = Timestamp(decimal: number, scale: 9)?.nanoseconds else { return nil }
    let (whole, rest) = billionths.quotientAndRemainder(dividingBy: 1_000_000_000)
    let (product, overflow) = whole.multipliedReportingOverflow(by: scale)
    guard !overflow else { return nil }
    // Below 10⁹ · 10⁹, or whole seconds of a billionth each, so there is no overflow.
    let fraction =
      scale < 1_000_000_000
      ? (rest * scale + 500_000_000) / 1_000_000_000 : rest * (scale / 1_000_000_000)
    let (sum, carry) = product.addingReportingOverflow(fraction)
    return carry ? nil : sum
  }

  /// Parses a duration with an optional leading `-`, for offsets between clocks.
  static func signedNanoseconds(_ text: String) -> Int64? {
    guard text.hasPrefix("-") else { return nanoseconds(text) }
    return nanoseconds(String(text.dropFirst())).map { 0 - $0 }
  }

  /// Formats with the largest unit that gives a whole number.
  public static func text(nanoseconds: Int64) -> String {
    for unit in [units[7], units[5], units[4], units[3], units[1]]
    where nanoseconds != 0 && nanoseconds % unit.nanoseconds == 0 {
      return "\(nanoseconds / unit.nanoseconds)\(unit.name)"
    }
    return "\(nanoseconds)ns"
  }
}

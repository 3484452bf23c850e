/// Formats numbers with a fixed number of decimals, as `%.6f` does.
enum Decimals {
  /// `1170.187988`, `-0.038214`, `0.000000`. Half a unit rounds away from zero. For magnitudes up to
  /// 10⁹ and at most 9 decimals.
  static func text(_ value: Double, _ decimals: Int) -> String {
    let scale = power(decimals)
    let units = Int64((value * Double(scale)).rounded(.toNearestOrAwayFromZero))
    let (whole, rest) = units.magnitude.quotientAndRemainder(dividingBy: UInt64(scale))
    let digits = String(rest)
    let zeros = String(repeating: "0", count: decimals - digits.count)
    let sign = units < 0 ? "-" : ""
    return decimals == 0 ? "\(sign)\(whole)" : "\(sign)\(whole).\(zeros)\(digits)"
  }

  /// The double that such a text reads back to.
  static func round(_ value: Double, _ decimals: Int) -> Double {
    Double(text(value, decimals)) ?? value
  }

  /// `value` with leading zeros up to `digits` digits.
  static func padded(_ value: Int, _ digits: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }

  private static func power(_ exponent: Int) -> Int64 {
    (0..<exponent).reduce(1) { power, _ in power * 10 }
  }
}

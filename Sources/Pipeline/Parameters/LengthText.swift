/// Lengths as people write them: `10mm`, `1.5cm`, `0.3m`; a bare number is meters.
public enum LengthText {
  /// Meters, or `nil` for what is no finite number with a known unit.
  public static func meters(_ text: some StringProtocol) -> Double? {
    let digits = Set("0123456789.+-eE")
    let number = text.prefix { digits.contains($0) }
    let unit = text.dropFirst(number.count).drop { $0 == " " }
    guard let value = Double(number), value.isFinite else { return nil }
    switch unit {
    case "", "m": return value
    case "cm": return value / 100
    case "mm": return value / 1000
    default: return nil
    }
  }

  /// `MIN..MAX`, both inclusive, each with its unit; a unit at the end only counts for both.
  public static func range(_ text: String) -> ClosedRange<Double>? {
    guard let dots = text.firstRange(of: "..") else { return nil }
    let low = trimmed(text[..<dots.lowerBound])
    let high = trimmed(text[dots.upperBound...])
    // `0.3...4` is a slip, not a range up to 0.4.
    guard high.first != "." else { return nil }
    let unit = high.drop { !$0.isLetter || $0 == "e" || $0 == "E" }
    let lowText = low.contains(where: { $0 == "m" }) ? String(low) : String(low + unit)
    guard let a = meters(lowText), let b = meters(high), a <= b else { return nil }
    return a...b
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop { $0 == " " }
    while text.last == " " { text.removeLast() }
    return text
  }
}

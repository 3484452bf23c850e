/// Parses and formats lengths: `10mm`, `1.5cm`, `0.3m`. A number without unit is rejected, because
/// `300` may be millimeters or meters.
public enum LengthText {
  /// Meters; `nil` unless the text is a finite number with a known unit.
  static func meters(_ text: some StringProtocol) -> Double? {
    let (number, unit) = parts(text)
    guard let value = Double(number), value.isFinite else { return nil }
    switch unit {
    case "m": return value
    case "cm": return value / 100
    case "mm": return value / 1000
    default: return nil
    }
  }

  /// `MIN..MAX`, both inclusive, each with its unit; a single unit at the end applies to both.
  public static func range(_ text: String) -> ClosedRange<Double>? {
    guard let (low, high) = ends(text) else { return nil }
    let unit = high.drop { !$0.isLetter || $0 == "e" || $0 == "E" }
    let lowText = low.contains(where: { $0 == "m" }) ? String(low) : String(low + unit)
    guard let a = meters(lowText), let b = meters(high), a <= b else { return nil }
    return a...b
  }

  /// Possible meanings of a length or range without unit: for `300..4000`, `300mm..4000mm` and
  /// `300m..4000m`. Empty for texts with a unit and texts that are not a number.
  public static func meanings(of text: String) -> [String] {
    let numbers: [Substring]
    if let (low, high) = ends(text) {
      numbers = [low, high]
    } else {
      numbers = [trimmed(text[...])]
    }
    let areAllBare = numbers.allSatisfy { number in
      let (digits, unit) = parts(number)
      return unit.isEmpty && (Double(digits)?.isFinite ?? false)
    }
    guard areAllBare else { return [] }
    return ["mm", "m"].map { unit in numbers.map { $0 + unit }.joined(separator: "..") }
  }

  /// Formats in a readable unit: millimeters below a meter. Parsing gives the same length.
  public static func text(meters: Double) -> String {
    let millimeters = "\(number(meters * 1000))mm"
    return abs(meters) < 1 && meters != 0 && Self.meters(millimeters) == meters
      ? millimeters : "\(number(meters))m"
  }

  public static func text(_ range: ClosedRange<Double>) -> String {
    "\(text(meters: range.lowerBound))..\(text(meters: range.upperBound))"
  }

  /// A number without `.0`.
  private static func number(_ value: Double) -> String {
    let text = "\(value)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  private static func parts(_ text: some StringProtocol) -> (number: String, unit: String) {
    let digits = Set("0123456789.+-eE")
    let number = text.prefix { digits.contains($0) }
    return (String(number), String(text.dropFirst(number.count).drop { $0 == " " }))
  }

  private static func ends(_ text: String) -> (low: Substring, high: Substring)? {
    guard let dots = text.firstRange(of: "..") else { return nil }
    let high = trimmed(text[dots.upperBound...])
    // `0.3...4` is a mistake rather than a range up to 0.4.
    guard high.first != "." else { return nil }
    return (trimmed(text[..<dots.lowerBound]), high)
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop { $0 == " " }
    while text.last == " " { text.removeLast() }
    return text
  }
}

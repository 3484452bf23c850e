/// Numbers for formats whose decimals have no exponent (XML Schema's `decimal`).
public enum PlainNumber {
  /// The shortest decimal text that reads back to the same double, without exponent: `0.00001`,
  /// `12`, `0` for -0. `nil` for values that are not finite.
  public static func text(_ value: Double) -> String? {
    guard value.isFinite else { return nil }
    if value == 0 { return "0" }
    let text = value.magnitude.description
    let parts = text.split(separator: "e")
    let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    let mantissa = parts[0].split(separator: ".")
    let whole = mantissa[0]
    let fraction = mantissa.count > 1 && mantissa[1] != "0" ? mantissa[1] : ""
    let digits = String(whole) + String(fraction)
    // Position of the decimal point among the digits.
    let point = whole.count + exponent
    let plain: String
    if point <= 0 {
      plain = "0." + String(repeating: "0", count: -point) + digits
    } else if point >= digits.count {
      plain = digits + String(repeating: "0", count: point - digits.count)
    } else {
      plain = digits.prefix(point) + "." + digits.dropFirst(point)
    }
    return (value < 0 ? "-" : "") + plain
  }
}

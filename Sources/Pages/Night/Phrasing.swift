import Core

/// Formats numbers for sentences.
enum Phrasing {
  /// `1 capture`, `1,204 captures`.
  static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    "\(NumberText.grouped(number)) \(Plural.word(number, one, many))"
  }

  /// `a, b and c`.
  static func list(_ items: [String]) -> String {
    guard let last = items.last, items.count > 1 else { return items.first ?? "" }
    return items.dropLast().joined(separator: ", ") + " and " + last
  }

  /// `3 days`, `26 h`, `5 min`: an approximate age.
  static func age(_ seconds: Double) -> String {
    let minutes = Int(min(max(seconds, 0), 1e10) / 60)
    if minutes < 90 { return "\(minutes) min" }
    if minutes < 48 * 60 { return "\(minutes / 60) h" }
    return "\(minutes / 1440) days"
  }

  /// A number for an attribute or an SVG coordinate: two decimals, no exponent.
  static func decimal(_ value: Double) -> String {
    guard value.isFinite else { return "0" }
    let hundredths = Int((min(max(value, -1e12), 1e12) * 100).rounded())
    let sign = hundredths < 0 ? "-" : ""
    let size = hundredths.magnitude
    let (whole, rest) = (size / 100, size % 100)
    if rest == 0 { return "\(sign)\(whole)" }
    return rest % 10 == 0
      ? "\(sign)\(whole).\(rest / 10)" : "\(sign)\(whole).\(rest < 10 ? "0" : "")\(rest)"
  }

  static func percent(_ value: Double) -> String { decimal(value) + "%" }

  /// The first `most` characters of a text.
  static func cut(_ text: String, _ most: Int) -> String {
    text.count > most ? text.prefix(most) + "…" : text
  }

  /// The number as in JSON.
  static func number(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(value)"
  }
}

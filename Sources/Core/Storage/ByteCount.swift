/// Sizes as readable text.
public enum ByteCount {
  /// Uses powers of 1000 and three digits: `0 bytes`, `17 bytes`, `1.20 MB`, `35.0 GB`.
  public static func text(_ bytes: Int64) -> String {
    var value = Double(bytes)
    var unit = 0
    let units = ["bytes", "kB", "MB", "GB", "TB", "PB"]
    // Compares the rounded value: 999.96 kB would be shown as 1000 kB.
    while value >= 999.5, unit + 1 < units.count {
      value /= 1000
      unit += 1
    }
    if unit == 0 { return Plural.text(bytes, "byte") }
    let digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2
    let scale = [1.0, 10, 100][digits]
    let whole = Int64((value * scale).rounded())
    let text = "\(whole)"
    if digits == 0 { return "\(text) \(units[unit])" }
    return "\(text.dropLast(digits)).\(text.suffix(digits)) \(units[unit])"
  }
}

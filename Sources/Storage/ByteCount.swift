/// Amounts of bytes in words.
public enum ByteCount {
  /// Three digits in the decimal unit that fits: `812 B`, `4.85 MB`, `1.2 TB`. Negative counts as 0.
  public static func text(_ bytes: Int64) -> String {
    var value = Double(max(0, bytes))
    if value < 1000 { return "\(Int(value)) B" }
    for unit in ["kB", "MB", "GB", "TB", "PB", "EB"] {
      value /= 1000
      guard value >= 999.5, unit != "EB" else {
        let digits = value < 9.995 ? 100.0 : value < 99.95 ? 10.0 : 1.0
        let rounded = (value * digits).rounded() / digits
        return digits == 1 ? "\(Int(rounded)) \(unit)" : "\(rounded) \(unit)"
      }
    }
    return "\(bytes) B"
  }
}

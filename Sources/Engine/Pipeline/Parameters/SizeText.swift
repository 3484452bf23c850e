/// Parses amounts of memory: `2GB` (10⁹), `512MiB` (2²⁰), `1000`.
public enum SizeText {
  private static let units: [(name: String, bytes: Int64)] = [
    ("", 1), ("b", 1), ("kb", 1_000), ("mb", 1_000_000), ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000), ("kib", 1 << 10), ("mib", 1 << 20), ("gib", 1 << 30),
    ("tib", 1 << 40), ("k", 1_000), ("m", 1_000_000), ("g", 1_000_000_000),
  ]

  /// Bytes; `nil` unless the text is a positive number with a known unit.
  public static func bytes(_ text: String) -> Int64? {
    let number = text.prefix { $0.isNumber || $0 == "." }
    let unit = text.dropFirst(number.count).drop { $0 == " " }.lowercased()
    guard let scale = units.first(where: { $0.name == unit })?.bytes, let value = Double(number)
    else { return nil }
    let bytes = value * Double(scale)
    return bytes >= 1 && bytes < 9e18 ? Int64(bytes) : nil
  }
}

/// Sizes and times of options.
enum ReceiveUnits {
  private static let sizes: [(String, Double)] = [
    ("KiB", 1024), ("MiB", 1_048_576), ("GiB", 1_073_741_824), ("TiB", 1_099_511_627_776),
    ("kB", 1e3), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12), ("B", 1),
  ]
  private static let times: [(String, Double)] = [
    ("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("d", 86_400),
  ]

  static func bytes(_ text: String) -> Int64? {
    value(text, sizes).flatMap { $0 < 9e18 ? Int64($0) : nil }
  }

  static func seconds(_ text: String) -> Double? { value(text, times) }

  /// A number with a unit; 0 needs none.
  private static func value(_ text: String, _ units: [(String, Double)]) -> Double? {
    if text == "0" { return 0 }
    for (unit, factor) in units where text.hasSuffix(unit) {
      guard let number = Double(text.dropLast(unit.utf8.count)), number >= 0, number.isFinite else {
        continue
      }
      return number * factor
    }
    return nil
  }
}

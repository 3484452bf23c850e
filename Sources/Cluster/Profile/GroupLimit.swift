import Pipeline

extension GroupLimit {
  /// More in one element would be a mistake of writing.
  static let mostCaptures = 1_000_000

  /// `20` captures, or work for `10m`; `nil` for what is neither, for 0, and above a million captures.
  public init?(_ text: String) {
    if let count = Int(text) {
      guard (1...Self.mostCaptures).contains(count) else { return nil }
      self = .captures(count)
    } else {
      guard let nanoseconds = DurationText.nanoseconds(text), nanoseconds >= 1_000_000_000 else {
        return nil
      }
      self = .seconds(Double(nanoseconds) / 1e9)
    }
  }
}

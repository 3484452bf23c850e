/// Numbers with the word for what they count.
public enum Plural {
  /// `1 capture`, `2 captures`, `0 captures`.
  ///
  /// - Parameter many: by default `one` with an `s`.
  public static func text(
    _ number: some BinaryInteger, _ one: String, _ many: String? = nil
  ) -> String {
    "\(number) \(word(number, one, many))"
  }

  /// The word alone: `capture`, `captures`.
  public static func word(
    _ number: some BinaryInteger, _ one: String, _ many: String? = nil
  ) -> String {
    number == 1 ? one : many ?? one + "s"
  }
}

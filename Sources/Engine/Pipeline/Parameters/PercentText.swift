import Core

/// Parses percentages: `2%`, `0.5 %`.
public enum PercentText {
  /// 0...100; `nil` without the sign, and for texts that are not a number in that range.
  public static func percent(_ text: String) -> Double? {
    guard text.last == "%" else { return nil }
    var number = text.dropLast()
    while number.last == " " { number.removeLast() }
    guard !number.isEmpty, number.utf8.allSatisfy({ $0.isDigit || $0 == 0x2E }),
      let value = Double(number), (0...100).contains(value)
    else { return nil }
    return value
  }
}

/// Lists of numbers as Swift prints them: `[-0.12042544, 1e-05, nan, -inf]`.
///
/// Apps that write arrays by string interpolation write non-finite numbers this way, which is not JSON.
enum NumberList {
  /// The numbers of a bracketed, comma-separated list in order, non-finite ones included; `nil` when
  /// the brackets or a number are missing. `[]` is the empty list.
  static func parse(_ text: String) -> [Double]? {
    let text = trimmed(text[...])
    guard text.first == "[", text.last == "]", text.utf8.count >= 2 else { return nil }
    let inner = text.dropFirst().dropLast()
    if trimmed(inner).isEmpty { return [] }
    var numbers: [Double] = []
    numbers.reserveCapacity(16)
    for part in inner.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      guard let number = number(Substring(part)) else { return nil }
      numbers.append(number)
    }
    return numbers
  }

  /// One number, blanks around it allowed.
  static func number(_ text: some StringProtocol) -> Double? {
    Double(trimmed(Substring(text)))
  }

  private static func trimmed(_ text: Substring) -> Substring {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    var bytes = text.utf8
    while let first = bytes.first, isBlank(first) { bytes.removeFirst() }
    while let last = bytes.last, isBlank(last) { bytes.removeLast() }
    return Substring(bytes)
  }
}

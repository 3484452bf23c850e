/// The content of a numeric cell.
public enum CSVNumber: Hashable, Sendable {
  /// A finite number in decimal or scientific notation.
  case finite(Double)
  /// `nan`, `inf`, `infinity` in any case and with any sign, or a number beyond the range of a
  /// double.
  case nonFinite
  /// No characters other than blanks.
  case empty
  /// Anything else: text, hexadecimal digits, a decimal comma.
  case invalid

  /// The value, if it is finite.
  public var value: Double? {
    if case .finite(let value) = self { value } else { nil }
  }

  /// Powers of ten that are exact as doubles.
  private static let exactPowers = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17,
    1e18, 1e19, 1e20, 1e21, 1e22,
  ]

  /// Reads the decimal number in `range` of `bytes` as the nearest double.
  ///
  /// For digits up to 2⁵³ and exponents up to 10^±22, one multiplication or division of exact
  /// numbers gives the nearest double (Clinger, "How to read floating point numbers accurately",
  /// 1990). The standard library reads all other texts.
  init(_ bytes: Span<UInt8>, _ range: Range<Int>) {
    guard !range.isEmpty else {
      self = .empty
      return
    }
    var index = range.lowerBound
    let negative = bytes[index] == UInt8(ascii: "-")
    if negative || bytes[index] == UInt8(ascii: "+") { index += 1 }
    let unsigned = index..<range.upperBound

    var digits: UInt64 = 0
    var digitCount = 0
    var significantCount = 0
    var exponent = 0
    var seenPoint = false
    while index < range.upperBound {
      let byte = bytes[index]
      let digit = byte &- UInt8(ascii: "0")
      if digit <= 9 {
        digitCount += 1
        if significantCount > 0 || digit > 0 { significantCount += 1 }
        if significantCount <= 18 { digits = digits &* 10 &+ UInt64(digit) }
        if seenPoint { exponent -= 1 }
      } else if byte == UInt8(ascii: "."), !seenPoint {
        seenPoint = true
      } else {
        break
      }
      index += 1
    }
    guard digitCount > 0 else {
      self = Self.isNonFinite(bytes, unsigned) ? .nonFinite : .invalid
      return
    }
    var isShort = significantCount <= 18 && digits <= 1 << 53
    if index < range.upperBound {
      guard let written = Self.exponent(bytes, index..<range.upperBound) else {
        self = .invalid
        return
      }
      if let written { exponent += written } else { isShort = false }
    }
    if isShort, abs(exponent) <= 22 {
      let power = Self.exactPowers[abs(exponent)]
      let magnitude = exponent < 0 ? Double(digits) / power : Double(digits) * power
      self = .finite(negative ? -magnitude : magnitude)
      return
    }
    let text = bytes.extracting(range).withUnsafeBufferPointer {
      String(decoding: $0, as: UTF8.self)
    }
    guard let value = Double(text) else {
      self = .invalid
      return
    }
    self = value.isFinite ? .finite(value) : .nonFinite
  }

  /// Reads `e` or `E`, an optional sign, and digits. The outer `nil` means any other text, the
  /// inner one an exponent larger than any that matters.
  private static func exponent(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int?? {
    var index = range.lowerBound
    guard bytes[index] | 0x20 == UInt8(ascii: "e") else { return nil }
    index += 1
    guard index < range.upperBound else { return nil }
    let negative = bytes[index] == UInt8(ascii: "-")
    if negative || bytes[index] == UInt8(ascii: "+") { index += 1 }
    guard index < range.upperBound else { return nil }
    var value = 0
    for position in index..<range.upperBound {
      let digit = bytes[position] &- UInt8(ascii: "0")
      guard digit <= 9 else { return nil }
      value = min(value * 10 + Int(digit), 1_000_000)
    }
    return value >= 1_000_000 ? .some(nil) : .some(negative ? -value : value)
  }

  private static func isNonFinite(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
    var text = ""
    guard range.count <= 8 else { return false }
    for index in range { text.unicodeScalars.append(Unicode.Scalar(bytes[index] | 0x20)) }
    return text == "nan" || text == "inf" || text == "infinity"
  }
}

/// A decimal number read from text, kept as digits and a power of ten: exact, whatever its length.
struct DecimalText {
  var isNegative: Bool
  /// Digits from most to least significant, without point.
  var digits: [UInt8]
  /// Power of ten: the value is digits × 10^exponent.
  var exponent: Int

  /// Accepts `[+-]? digits [. digits] [(e|E) [+-]? digits]` with at least one mantissa digit.
  init?(_ text: some StringProtocol) {
    var bytes = Array(text.utf8)[...]
    isNegative = bytes.first == UInt8(ascii: "-")
    if isNegative || bytes.first == UInt8(ascii: "+") { bytes.removeFirst() }
    digits = []
    exponent = 0
    var seenPoint = false
    while let byte = bytes.first, byte != UInt8(ascii: "e"), byte != UInt8(ascii: "E") {
      bytes.removeFirst()
      if byte == UInt8(ascii: "."), !seenPoint {
        seenPoint = true
        continue
      }
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      digits.append(byte &- UInt8(ascii: "0"))
      if seenPoint { exponent -= 1 }
    }
    guard !digits.isEmpty else { return nil }
    if !bytes.isEmpty {
      bytes.removeFirst()
      guard let written = Int(String(decoding: bytes, as: UTF8.self)),
        (-400...400).contains(written)
      else { return nil }
      exponent += written
    }
  }

  /// The integer nearest to the value × 10^scale, ties away from zero; `nil` when it does not fit.
  func roundedInteger(scale: Int) -> Int64? {
    let power = exponent + scale
    var magnitude: UInt64 = 0
    for position in 0..<max(digits.count + power, 0) {
      let digit = position < digits.count ? digits[position] : 0
      let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(UInt64(digit))
      guard !overflow, !carry else { return nil }
      magnitude = sum
    }
    guard magnitude <= UInt64(Int64.max) else { return nil }
    // The first digit that is cut off decides; anything smaller than a tenth of a unit is below half.
    let firstCut = digits.count + power
    if firstCut >= 0, firstCut < digits.count, digits[firstCut] >= 5 {
      guard magnitude <= UInt64(Int64.max) else { return nil }
      magnitude += 1
    }
    guard magnitude <= UInt64(Int64.max) else { return nil }
    return isNegative ? -Int64(magnitude) : Int64(magnitude)
  }
}

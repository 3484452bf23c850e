/// A point in time on a capture's own clock, in whole nanoseconds.
///
/// Range: about ±292 years. Conversions from text and from binary floating point round once, to the
/// nearest nanosecond, and give `nil` for values that do not fit or are not finite.
public struct Timestamp: Hashable, Comparable, Sendable {
  public var nanoseconds: Int64

  public init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  /// The nanosecond nearest to the exact value of a binary `Double` of seconds.
  ///
  /// Whole seconds and fraction are multiplied separately, because `(seconds * 1e9).rounded()` is
  /// sometimes off by one. `nil` when `seconds` is not finite or beyond ±9.2e9.
  public init?(exactSeconds seconds: Double) {
    guard seconds.isFinite, abs(seconds) < 9.2e9 else { return nil }
    let whole = seconds.rounded(.towardZero)
    let fraction = seconds - whole
    // The product of a fraction of 53 bits and 10⁹ (30 bits) needs more than a double: keep its tail.
    let high = fraction * 1e9
    let tail = (-high).addingProduct(fraction, 1e9)
    var nearest = high.rounded(.toNearestOrAwayFromZero)
    // The tail is below half a unit of the last place of `high`, so it decides only where `high` is
    // a tie. (Adding it to the distance could lose it: both have 53 bits.)
    let distance = high - nearest
    if distance == 0.5, tail > 0 {
      nearest += 1
    } else if distance == -0.5, tail < 0 {
      nearest -= 1
    }
    nanoseconds = Int64(whole) * 1_000_000_000 + Int64(nearest)
  }

  /// The nanosecond nearest to a decimal text of seconds (`31415.016664989`, `1.5e3`), ties away from
  /// zero, in exact decimal arithmetic. `nil` when the text is not a finite decimal number or the
  /// value does not fit.
  public init?(decimalSeconds text: some StringProtocol) {
    self.init(decimal: text, scale: 9)
  }

  /// The nanosecond nearest to a decimal text of nanoseconds. No floating-point number is involved.
  public init?(decimalNanoseconds text: some StringProtocol) {
    self.init(decimal: text, scale: 0)
  }

  /// The integer nearest to `text` × 10^`scale`, ties away from zero.
  ///
  /// `nil` for exponents beyond ±400 and for empty mantissas. Cost: linear in the text.
  public init?(decimal text: some StringProtocol, scale: Int) {
    guard let number = Self.parsed(text) else { return nil }
    let digits = number.digits
    let power = number.exponent + scale
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
    if firstCut >= 0, firstCut < digits.count, digits[firstCut] >= 5 { magnitude += 1 }
    guard magnitude <= UInt64(Int64.max) else { return nil }
    nanoseconds = number.isNegative ? -Int64(magnitude) : Int64(magnitude)
  }

  /// The decimal number of a text, digits × 10^exponent with the highest digit first: exact, whatever its length.
  ///
  /// Accepts `[+-]? digits [. digits] [(e|E) [+-]? digits]` with at least one mantissa digit.
  private static func parsed(
    _ text: some StringProtocol
  ) -> (isNegative: Bool, digits: [UInt8], exponent: Int)? {
    var bytes = Array(text.utf8)[...]
    let isNegative = bytes.first == UInt8(ascii: "-")
    if isNegative || bytes.first == UInt8(ascii: "+") { bytes.removeFirst() }
    var digits: [UInt8] = []
    var exponent = 0
    var seenPoint = false
    while let byte = bytes.first, byte != UInt8(ascii: "e"), byte != UInt8(ascii: "E") {
      bytes.removeFirst()
      if byte == UInt8(ascii: "."), !seenPoint {
        seenPoint = true
        continue
      }
      guard byte.isDigit else { return nil }
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
    return (isNegative, digits, exponent)
  }

  public static func < (a: Timestamp, b: Timestamp) -> Bool { a.nanoseconds < b.nanoseconds }

  /// The signed distance `a - b` in nanoseconds, saturating at the ends of `Int64`.
  public static func - (a: Timestamp, b: Timestamp) -> Int64 {
    let (difference, overflow) = a.nanoseconds.subtractingReportingOverflow(b.nanoseconds)
    guard overflow else { return difference }
    return a.nanoseconds > b.nanoseconds ? .max : .min
  }

  /// The time `nanoseconds` later, saturating at the ends of `Int64`.
  public func advanced(byNanoseconds offset: Int64) -> Timestamp {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(offset)
    guard overflow else { return Timestamp(nanoseconds: sum) }
    return Timestamp(nanoseconds: offset > 0 ? .max : .min)
  }
}

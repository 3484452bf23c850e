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
    guard let value = DecimalText(text)?.roundedInteger(scale: scale) else { return nil }
    nanoseconds = value
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

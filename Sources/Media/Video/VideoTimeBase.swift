/// Duration of a tick of a video's clock: `numerator` / `denominator` seconds.
public struct VideoTimeBase: Hashable, Sendable {
  public var numerator: Int64
  public var denominator: Int64

  /// Values that are not positive become 1.
  public init(numerator: Int64 = 1, denominator: Int64) {
    self.numerator = max(1, numerator)
    self.denominator = max(1, denominator)
  }

  /// The nearest nanosecond, ties away from zero, computed exactly; `nil` if it does not fit.
  public func nanoseconds(ofTicks ticks: Int64) -> Int64? {
    let (scale, overflow) = numerator.multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflow else { return nil }
    let product = ticks.magnitude.multipliedFullWidth(by: scale.magnitude)
    let (sum, carry) = product.low.addingReportingOverflow(denominator.magnitude / 2)
    let high = product.high + (carry ? 1 : 0)
    guard high < denominator.magnitude else { return nil }
    let quotient = denominator.magnitude.dividingFullWidth((high, sum)).quotient
    guard let value = Int64(exactly: quotient) else { return nil }
    return ticks < 0 ? -value : value
  }
}

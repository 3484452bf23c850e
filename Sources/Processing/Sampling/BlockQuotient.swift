/// Division of sums by the number of pixels of a block, as a product.
struct BlockQuotient: Sendable {
  private let factor: UInt64

  /// - Parameter divisor: 1 to 2¹⁶; others count as the nearest of these.
  init(_ divisor: Int) {
    let divisor = UInt64(min(max(1, divisor), 1 << 16))
    factor = ((1 << 48) + divisor - 1) / divisor
  }

  /// The quotient, rounded down, for sums of less than 256 times the divisor.
  ///
  /// Exact: times the divisor, `factor` is above 2⁴⁸ by less than 2¹⁶, and sums are below 2²⁴.
  @inline(__always)
  func of(_ sum: UInt32) -> UInt8 {
    UInt8(truncatingIfNeeded: (UInt64(sum) &* factor) &>> 48)
  }
}

/// Which of a row of things are kept when there are more than may be: number k of the kept is number
/// ⌊k · total / kept⌋ of the row.
struct EvenThinning: Hashable, Sendable {
  let total: Int
  /// How many are kept.
  let kept: Int

  /// - Parameter limit: at most so many; 0 = none.
  init(total: Int, limit: Int) {
    self.total = max(0, total)
    kept = min(self.total, max(0, limit))
  }

  /// Where number `k` of the kept stands in the row; `Int.max` behind the last.
  func position(of k: Int) -> Int {
    guard k < kept else { return .max }
    // The product of two counts may leave 64 bits.
    return Int(Int128(k) * Int128(total) / Int128(kept))
  }

  /// The number of the first that is kept at `position` or behind it.
  func firstKept(from position: Int) -> Int {
    guard total > 0 else { return 0 }
    let (quotient, rest) = (Int128(position) * Int128(kept)).quotientAndRemainder(
      dividingBy: Int128(total))
    return Int(quotient) + (rest == 0 ? 0 : 1)
  }
}

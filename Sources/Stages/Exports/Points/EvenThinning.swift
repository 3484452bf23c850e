/// Thins a sequence evenly: the kept item k is item ⌊k · total / kept⌋.
struct EvenThinning: Hashable, Sendable {
  let total: Int
  /// Number of kept items.
  let kept: Int

  /// - Parameter limit: largest number to keep; 0 keeps none.
  init(total: Int, limit: Int) {
    self.total = max(0, total)
    kept = min(self.total, max(0, limit))
  }

  /// Index of the kept item `k`; `Int.max` after the last.
  func position(of k: Int) -> Int {
    guard k < kept else { return .max }
    // The product may overflow 64 bits.
    return Int(Int128(k) * Int128(total) / Int128(kept))
  }

  /// The first kept item at or after index `position`.
  func firstKept(from position: Int) -> Int {
    guard total > 0 else { return 0 }
    let (quotient, rest) = (Int128(position) * Int128(kept)).quotientAndRemainder(
      dividingBy: Int128(total))
    return Int(quotient) + (rest == 0 ? 0 : 1)
  }
}

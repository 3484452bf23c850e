import Core

/// Takes what changes slowly from angular velocities: the mean over some of the neighbors on both sides.
///
/// Camera and gyroscope are filtered alike, so that what they have in common stays so.
struct QuickPart: Sendable {
  /// Neighbors on each side; `nil` = nothing is taken away.
  private let reach: Int?

  /// - Parameter seconds: how long the mean is; `nil` = nothing is taken away.
  init(_ turns: [CameraTurn], seconds: Double?) {
    guard let seconds, let step = Median.upper(turns.map(\.seconds)) else {
      reach = nil
      return
    }
    reach = max(1, Int((seconds / 2 / max(step, 1e-6)).rounded()))
  }

  /// Cost: one pass.
  func of(_ rates: [SIMD3<Double>]) -> [SIMD3<Double>] {
    guard let reach else { return rates }
    var sums = [SIMD3<Double>.zero]
    sums.reserveCapacity(rates.count + 1)
    var sum = SIMD3<Double>.zero
    for rate in rates {
      sum += rate
      sums.append(sum)
    }
    return rates.indices.map { index in
      let (low, high) = (max(0, index - reach), min(rates.count, index + reach + 1))
      return rates[index] - (sums[high] - sums[low]) / Double(high - low)
    }
  }
}

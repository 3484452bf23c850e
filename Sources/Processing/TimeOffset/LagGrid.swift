import Core

/// The sums of camera and gyroscope at each offset of a grid, in blocks of time.
///
/// At every offset the same rotations are compared: those that the gyroscope covers at all of them.
struct LagGrid {
  /// Ascending, nanoseconds.
  let lags: [Int64]
  let turns: [CameraTurn]
  /// By offset, then by block.
  private(set) var sums: [[TurnSums]] = []
  let blockCount: Int
  /// The turns of each block, as places in `turns`.
  let turnsOfBlock: [Range<Int>]

  /// - Parameters:
  ///   - turns: by time.
  ///   - blocks: the number of blocks for so many seconds.
  init(
    _ turns: [CameraTurn], _ gyroscope: GyroscopeIntegral, _ lags: [Int64],
    _ rule: TimeOffsetRule, _ blocks: (Double) -> Int
  ) {
    self.lags = lags
    let before = gyroscope.points(at: turns.map(\.start), shiftedBy: lags.first ?? 0)
    let after = gyroscope.points(at: turns.map(\.end), shiftedBy: lags.last ?? 0)
    self.turns = turns.indices.filter {
      before[$0].stretch != nil && before[$0].stretch == after[$0].stretch
    }.map { turns[$0] }
    let all = self.turns.reduce(0) { $0 + $1.seconds }
    let blockCount = blocks(all)
    self.blockCount = blockCount
    // Blocks of equal duration, without gaps between them.
    var passed = 0.0
    let blockOfTurn = self.turns.map { turn in
      defer { passed += turn.seconds }
      return all > 0 ? min(blockCount - 1, Int(passed / all * Double(blockCount))) : 0
    }
    turnsOfBlock = (0..<blockCount).map { block in
      blockOfTurn.partitioningIndex { $0 >= block }..<blockOfTurn.partitioningIndex { $0 > block }
    }
    let (starts, ends) = (self.turns.map(\.start), self.turns.map(\.end))
    let filter = QuickPart(self.turns, seconds: rule.window)
    let cameraRates = filter.of(self.turns.map(\.rate))
    for lag in lags {
      let (from, to) = (
        gyroscope.points(at: starts, shiftedBy: lag), gyroscope.points(at: ends, shiftedBy: lag)
      )
      let rates = filter.of(
        self.turns.indices.map { (to[$0].sum - from[$0].sum) / self.turns[$0].seconds })
      var blocks = [TurnSums](repeating: TurnSums(), count: blockCount)
      for (index, turn) in self.turns.enumerated() {
        let seconds = turn.seconds
        blocks[blockOfTurn[index]].add(
          camera: cameraRates[index], gyroscope: rates[index], weight: seconds)
      }
      sums.append(blocks)
    }
  }

  var seconds: Double { turns.reduce(0) { $0 + $1.seconds } }

  /// The sums over all blocks, by offset.
  func total() -> [TurnSums] { sums.map { $0.reduce(TurnSums(), +) } }

  /// By offset; only for grids with turns.
  func agreements() -> [TurnSums.Agreement] { total().compactMap(\.agreement) }
}

/// The lowest place of the residuals by offset.
struct ResidualMinimum {
  /// The parabola is laid through the residuals up to this far from the lowest one. Noise makes them uneven over some
  /// milliseconds: a parabola through a few of them would stick to a dent, with and without each block, and the
  /// interval would be too narrow. The quickest motions of a hand, 9 Hz, are much wider.
  private static let reach: Int64 = 14_000_000
  /// How often the parabola is laid anew, at most.
  private static let mostMoves = 8

  let nanoseconds: Double
  /// The place that is nearest to it.
  let nearest: Int
  /// Half of the second derivative: rad²/s² per ns².
  let curvature: Double

  /// By the parabola that is nearest to the residuals around a place; `nil` if the place is at an end. At least five
  /// points count, and as many on both sides.
  ///
  /// - Parameter place: of the lowest residual.
  init?(_ lags: [Int64], _ residuals: [Double], around place: Int) {
    guard place >= 2, place < residuals.count - 2, residuals[place].isFinite else { return nil }
    let step = lags[place + 1] - lags[place]
    let reach = min(max(2, Int(Self.reach / step)), place, residuals.count - 1 - place)
    // Least squares of a + bx + cx² at -reach...reach, whose odd sums vanish.
    var (squares, fourths, sum, products, moments) = (0.0, 0.0, 0.0, 0.0, 0.0)
    for offset in -reach...reach {
      let (x, y) = (Double(offset), residuals[place + offset] - residuals[place])
      squares += x * x
      fourths += x * x * x * x
      sum += y
      products += x * y
      moments += x * x * y
    }
    let count = Double(2 * reach + 1)
    let slope = products / squares
    let curvature = (count * moments - squares * sum) / (count * fourths - squares * squares)
    guard curvature > 0 else { return nil }
    let most = Double(reach)
    let shift = min(most, max(-most, -slope / (2 * curvature)))
    nanoseconds = Double(lags[place]) + shift * Double(step)
    nearest = place + Int(shift.rounded())
    self.curvature = curvature / (Double(step) * Double(step))
  }

  /// Finds the minimum over all offsets; `nil` if it is at an end.
  ///
  /// The lowest residual may be the deepest dent of noise, and it is the same one with and without most blocks. So
  /// the parabola is laid anew around its own lowest place, until that stays.
  init?(_ lags: [Int64], _ residuals: [Double]) {
    guard var place = residuals.indices.min(by: { residuals[$0] < residuals[$1] }),
      var found = ResidualMinimum(lags, residuals, around: place)
    else { return nil }
    for _ in 0..<Self.mostMoves where found.nearest != place {
      place = found.nearest
      guard let moved = ResidualMinimum(lags, residuals, around: place) else { break }
      found = moved
    }
    self = found
  }

  init?(_ lags: [Int64], _ sums: [TurnSums]) {
    self.init(lags, sums.map { $0.agreement?.residual ?? .infinity })
  }
}

/// Takes what changes slowly from angular velocities: the mean over some of the neighbors on both sides.
///
/// Camera and gyroscope are filtered alike, so that what they have in common stays so.
struct QuickPart {
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

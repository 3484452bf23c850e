import Core
import Glibc

/// The time offset of each block of a recording by itself, and whether they can be one: a clock that jumps or drifts, or
/// a lost picture behind which all others carry another's time, gives blocks that disagree by more than their noise.
///
/// Axes are those that fit the whole recording, the bias is each block's own. A block's offset is the lowest residual
/// near that of the whole, or anywhere in the search if that is far likelier.
struct BlockOffsets {
  let blocks: [TimeOffsetSearch.Block]

  /// On both sides of the offset of the whole.
  private static let near: Int64 = 30_000_000
  /// A block that is less certain shows nothing, nanoseconds.
  private static let mostDeviation = 8_000_000.0
  private static let leastBlocks = 5
  /// Standard deviations between a part and the rest.
  private static let mostDifference = 5.5
  /// Standard deviations between a single block and the rest.
  private static let mostDifferenceOfOne = 8.0
  /// The median of the square of a normal deviate.
  private static let medianSquare = 0.454_936

  /// - Parameters:
  ///   - grid: of all that was searched, with outliers: where the offset is another one, most rotations are such.
  ///   - whole: the best offset of the whole.
  ///
  /// Cost: some operations for each block at each offset.
  init(_ grid: LagGrid, around whole: Int64, _ rule: TimeOffsetRule) {
    guard let place = grid.lags.firstIndex(of: whole),
      let agreement = grid.sums[place].reduce(TurnSums(), +).agreement
    else {
      blocks = []
      return
    }
    // Without noise any ratio of residuals is large.
    let floor = 1e-6 * (agreement.gyroscopeVariance + agreement.cameraVariance)
    blocks = grid.turnsOfBlock.enumerated().compactMap { index, turns in
      guard let first = turns.first, let last = turns.last else { return nil }
      var block = TimeOffsetSearch.Block(
        start: grid.turns[first].start, end: grid.turns[last].end, turns: turns.count)
      let residuals = grid.sums.map {
        floor + ($0[index].agreement(by: agreement.turn)?.residual ?? .infinity)
      }
      let freedom = 3 * Double(turns.count) - 4
      guard freedom > 0,
        let found = Self.minimum(grid.lags, residuals, near: place, turns.count, rule)
      else { return block }
      let variance =
        found.residual / (freedom * found.minimum.curvature)
        + rule.leastBlockDeviation * rule.leastBlockDeviation
      guard variance < Self.mostDeviation * Self.mostDeviation else { return block }
      block.nanoseconds = Int64(found.minimum.nanoseconds.rounded())
      block.deviationNanoseconds = Int64(variance.squareRoot().rounded())
      return block
    }
  }

  private static func minimum(
    _ lags: [Int64], _ residuals: [Double], near place: Int, _ turns: Int, _ rule: TimeOffsetRule
  ) -> (minimum: ResidualMinimum, residual: Double)? {
    func lowest(_ places: some Sequence<Int>) -> Int {
      places.min { residuals[$0] < residuals[$1] } ?? place
    }
    let near = lowest(lags.indices.filter { abs(lags[$0] - lags[place]) <= Self.near })
    let any = lowest(lags.indices)
    let isElsewhere =
      Double(turns) * log(residuals[near] / residuals[any]) > rule.leastEvidence
    let found = isElsewhere ? any : near
    // At the border of what is near the residuals fall on.
    guard found > 0, found < lags.count - 1, residuals[found] <= residuals[found - 1],
      residuals[found] <= residuals[found + 1],
      let minimum = ResidualMinimum(lags, residuals, around: found)
    else { return nil }
    return (minimum, residuals[found])
  }

  /// Throws if some blocks in a row have another offset than the others, by more than noise explains.
  ///
  /// The noise is that of each block, or what neighbors typically differ by, if that is more. Every run of blocks is
  /// compared with the rest.
  func check() throws(TimeOffsetRefusal) {
    let known = blocks.compactMap { block in
      block.nanoseconds.flatMap { offset in
        block.deviationNanoseconds.map {
          (block: block, offset: Double(offset), weight: 1 / (Double($0) * Double($0)))
        }
      }
    }
    guard known.count >= Self.leastBlocks, let start = blocks.first?.start else { return }
    let steps = zip(known, known.dropFirst()).map { one, next in
      (next.offset - one.offset) * (next.offset - one.offset)
        / (1 / one.weight + 1 / next.weight)
    }
    let noise = max(1, (Median.upper(steps) ?? 0) / Self.medianSquare)
    func mean(_ part: some Sequence<Int>) -> (offset: Double, variance: Double) {
      var (weight, sum) = (0.0, 0.0)
      for index in part {
        weight += known[index].weight
        sum += known[index].weight * known[index].offset
      }
      return (sum / weight, noise / weight)
    }
    var worst: (refusal: TimeOffsetRefusal, difference: Double)?
    for first in known.indices {
      for end in known.indices where end >= first && end - first < known.count - 2 {
        let part = mean(first...end)
        let rest = mean(known.indices.filter { $0 < first || $0 > end })
        let difference =
          abs(part.offset - rest.offset) / (part.variance + rest.variance).squareRoot()
        let most = first == end ? Self.mostDifferenceOfOne : Self.mostDifference
        guard difference > max(most, worst?.difference ?? 0) else { continue }
        worst = (
          .changing(
            part: Int64(part.offset.rounded()),
            seconds: Double(known[first].block.start - start) / 1e9...Double(
              known[end].block.end - start) / 1e9,
            rest: Int64(rest.offset.rounded())), difference
        )
      }
    }
    if let worst { throw worst.refusal }
  }
}

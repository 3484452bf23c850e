import Geometry

/// The sums of camera and gyroscope at each offset of a grid, in blocks of time.
///
/// At every offset the same rotations are compared: those that the gyroscope covers at all of them.
struct LagGrid: Sendable {
  /// Ascending, nanoseconds.
  let lags: [Int64]
  let turns: [CameraTurn]
  /// By offset, then by block.
  private(set) var sums: [[TurnSums]] = []
  let blockCount: Int

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
    blockCount = blocks(all)
    // Blocks of equal duration, without gaps between them.
    var passed = 0.0
    let blockOfTurn = self.turns.map { turn in
      defer { passed += turn.seconds }
      return all > 0 ? min(blockCount - 1, Int(passed / all * Double(blockCount))) : 0
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
  func total() -> [TurnSums] { total(of: 0..<blockCount) }

  /// The sums over some blocks, by offset.
  func total(of blocks: Range<Int>) -> [TurnSums] {
    sums.map { perBlock in blocks.reduce(TurnSums()) { $0 + perBlock[$1] } }
  }

  /// By offset; only for grids with turns.
  func agreements() -> [TurnSums.Agreement] { total().compactMap(\.agreement) }
}

import Core
import Glibc

/// Estimates the time offset between a camera and a gyroscope by comparing how they turn.
///
/// At each offset the frame to frame rotations of the camera are compared with the means of the
/// gyroscope over the same times, by the rotation between the axes of the two and the bias of the gyroscope
/// that let them agree best. The offset where least is left is found on a grid, then on a finer one, then by
/// a parabola. Each block of time has an offset by itself, too (`BlockOffsets`); where these cannot be one, none is
/// told. The confidence interval is that of a jackknife over blocks of time: the estimate is made again
/// without each block, and Student's distribution is applied to the spread. It covers noise of both sensors,
/// also noise that lasts, but not what is wrong all the time: which moment of the exposure the times of
/// pictures mean, for instance.
///
/// Coverage was counted on simulated phones of known offsets, between 5 and 60 seconds, 30 and 60 pictures and 60
/// and 100 readings a second, with 1 to 16 times a phone's noise. The spread by itself held the true offset in 90 to
/// 96 of 100, so it is widened by a fifth (`wideningOfInterval`), which gives 95 to 99. With 16 times the noise and 60
/// pictures a second these are 87 and 91. `TimeOffsetTests` counts again.
///
/// Deterministic. Cost: a pass over frames and samples for each offset that is tried, some 450 of them, of pictures
/// some 2,000; memory for 50 blocks at each.
public struct TimeOffsetEstimator: Sendable {
  /// Offsets from minus this to plus this are tried.
  var searchNanoseconds: Int64
  private let rule: TimeOffsetRule

  /// Rotations over longer steps than this are not used.
  static let longestTurnNanoseconds: Int64 = 250_000_000
  /// On both sides of the best offset of the whole. Less than what is searched, so that less is lost at the ends of
  /// the recording.
  private static let reachOfBlocks: Int64 = 200_000_000
  private static let margin: Int64 = 200_000_000
  private static let coarseStep: Int64 = 4_000_000
  private static let fineStep: Int64 = 2_000_000
  /// On both sides of the best offset of the coarse grid.
  private static let fineReach: Int64 = 30_000_000
  /// The calibration of the interval.
  private static let wideningOfInterval = 1.2
  static let leastTurns = 50
  static let leastSeconds = 2.5
  private static let secondsOfBlock = 0.5
  private static let mostBlocks = 48
  /// rad/s.
  private static let leastOutlier = 0.02
  private static let leastBlocks = 5
  /// The largest share of the turns that differences of scale and interpolation leave unexplained.
  private static let smallRest = 0.005
  /// The motion of the camera itself takes some of the agreement of slow turns.
  private static let leastSlowCorrelation = 0.55
  private static let mostSlowRatio = 1.15
  /// Distance up to which offsets are tried, and their step, to see that none fits better: nanoseconds.
  private static let beyond: Int64 = 5_000_000_000
  private static let beyondStep: Int64 = 8_000_000
  /// Offsets this near to the one that was found are the same one.
  private static let beyondWidth: Int64 = 20_000_000
  /// Evidence against an offset beyond which it is refused: none of 171 right offsets had more than 6 against it, and
  /// all but 1 of 30 wrong ones whose right one was tried had more than 11 (simulated phones).
  private static let evidenceBeyond = 10.0
  private static let longMemory = 0.2
  /// Another minimum counts only if it is farther away than this.
  private static let widthOfMinimum: Int64 = 60_000_000
  private static let mostHalfWidth = 10_000_000.0
  /// Interpolation between samples and the grid do not allow for less.
  private static let leastHalfWidth = 100_000.0

  public init(searchNanoseconds: Int64, _ rule: TimeOffsetRule = .poses) {
    self.rule = rule
    self.searchNanoseconds = max(Self.coarseStep * 2, searchNanoseconds)
  }

  /// - Parameter turns: by time.
  public func search(_ turns: [CameraTurn], _ gyroscope: GyroscopeIntegral) -> TimeOffsetSearch {
    // The mean velocity of a step cannot be above the largest one: a jump of the poses.
    let fastest = 1.2 * gyroscope.largestSpeed + 0.2
    let usable = turns.filter {
      $0.end - $0.start <= Self.longestTurnNanoseconds
        && ($0.rate * $0.rate).sum() <= fastest * fastest
    }
    // A little more on both sides, to tell an offset outside of the search from one at its end.
    let count = (searchNanoseconds + Self.margin) / Self.coarseStep
    let lags = (-count...count).map { $0 * Self.coarseStep }
    let coarse = LagGrid(usable, gyroscope, lags, rule, Self.blocks)
    guard coarse.turns.count >= Self.leastTurns, coarse.seconds >= Self.leastSeconds,
      coarse.blockCount >= Self.leastBlocks
    else {
      return TimeOffsetSearch(
        result: .failure(.tooShort(turns: coarse.turns.count, seconds: coarse.seconds)), curve: [],
        blocks: [])
    }
    let agreements = coarse.agreements()
    let lowest = Self.lowest(agreements)
    let nearby = LagGrid(
      usable, gyroscope, lags.filter { abs($0 - lags[lowest]) <= Self.reachOfBlocks }, rule,
      Self.blocks)
    let blocks = BlockOffsets(nearby, around: lags[lowest], rule)
    let curve = zip(lags, agreements).map { lag, agreement in
      TimeOffsetSearch.Point(
        nanoseconds: lag, residual: agreement.residual.squareRoot(),
        correlation: agreement.correlation)
    }
    do throws(TimeOffsetRefusal) {
      let place = try best(coarse, agreements)
      try checkSlowPart(usable, gyroscope, lags, at: place, agreements[place].turn)
      try checkBeyond(usable, gyroscope, lags[place])
      try blocks.check()
      try BlockOffsets(coarse, around: lags[place], rule).check()
      return TimeOffsetSearch(
        result: .success(
          try refined(
            coarse, agreements[place], at: place, usable, of: turns.count, gyroscope)),
        curve: curve, blocks: blocks.blocks)
    } catch {
      return TimeOffsetSearch(result: .failure(error), curve: curve, blocks: blocks.blocks)
    }
  }

  /// The place of the best offset in the coarse grid, if it can be believed.
  private func best(
    _ grid: LagGrid, _ agreements: [TurnSums.Agreement]
  ) throws(TimeOffsetRefusal) -> Int {
    let place = Self.lowest(agreements)
    let found = agreements[place]
    let variance = min(found.gyroscopeVariance, found.cameraVariance)
    guard variance >= rule.leastRotation * rule.leastRotation else {
      throw .tooLittleRotation(degreesPerSecond: variance.squareRoot() * 180 / .pi)
    }
    guard found.correlation >= rule.leastCorrelation else {
      throw .noAgreement(correlation: found.correlation)
    }
    guard abs(grid.lags[place]) <= searchNanoseconds else {
      throw .outsideSearch(nanoseconds: grid.lags[place])
    }
    if let other = rival(of: place, grid, agreements) {
      if Self.evidence(found, over: agreements[other], grid.turns.count) < rule.leastEvidence {
        throw .ambiguous(first: grid.lags[place], second: grid.lags[other])
      }
    }
    return place
  }

  /// Where only the quick part is compared: the whole must not speak for another offset, nor for other axes. A tremor
  /// of few frequencies fits at several offsets, at some of them with axes that point the other way; slow turns do not.
  ///
  /// - Parameter turn: from the axes of the gyroscope to those of the camera, as the quick part has it at `place`.
  private func checkSlowPart(
    _ turns: [CameraTurn], _ gyroscope: GyroscopeIntegral, _ lags: [Int64], at place: Int,
    _ turn: AxisTurn
  ) throws(TimeOffsetRefusal) {
    guard rule.window != nil else { return }
    var whole = rule
    whole.window = nil
    let sums = LagGrid(turns, gyroscope, lags, whole, Self.blocks).total()
    let free = sums.compactMap(\.agreement)
    let bound = sums.compactMap { $0.agreement(by: turn) }
    guard free.count == lags.count, bound.count == lags.count else { return }
    for correlation in [free[place].correlation, bound[place].correlation]
    where correlation < Self.leastSlowCorrelation {
      throw .noAgreement(correlation: max(0, correlation))
    }
    for residuals in [free.map(\.residual), bound.map(\.residual)] {
      let lowest = residuals.indices.min { residuals[$0] < residuals[$1] } ?? place
      if residuals[place] > Self.mostSlowRatio * residuals[lowest] {
        throw .ambiguous(first: lags[place], second: lags[lowest])
      }
    }
  }

  /// Refuses an offset where one far outside of the search fits better. Only the quick part is compared, as far as the
  /// recording is long enough. A tremor of few frequencies repeats itself: the search alone may find a good fit at a
  /// wrong offset.
  private func checkBeyond(
    _ turns: [CameraTurn], _ gyroscope: GyroscopeIntegral, _ found: Int64
  ) throws(TimeOffsetRefusal) {
    guard rule.window != nil, let first = turns.first, let last = turns.last else { return }
    let (duration, isOver) = last.end.nanoseconds.subtractingReportingOverflow(
      first.start.nanoseconds)
    let count = min(Self.beyond, isOver ? 0 : duration / 3) / Self.beyondStep
    guard count * Self.beyondStep > searchNanoseconds + Self.margin else { return }
    let lags = (-count...count).map { $0 * Self.beyondStep }
    let grid = LagGrid(turns, gyroscope, lags, rule, { _ in 1 })
    let agreements = grid.agreements()
    guard agreements.count == lags.count, grid.turns.count >= Self.leastTurns,
      let own = agreements.indices.filter({ abs(lags[$0] - found) <= Self.beyondWidth })
        .min(by: { agreements[$0].residual < agreements[$1].residual })
    else { return }
    let lowest = Self.lowest(agreements)
    if Self.evidence(agreements[lowest], over: agreements[own], grid.turns.count)
      > Self.evidenceBeyond
    {
      throw .betterOutside(nanoseconds: lags[lowest])
    }
  }

  /// The best minimum elsewhere; an end of the grid counts as one.
  private func rival(
    of place: Int, _ grid: LagGrid, _ agreements: [TurnSums.Agreement]
  ) -> Int? {
    agreements.indices.filter { index in
      abs(grid.lags[index] - grid.lags[place]) > Self.widthOfMinimum
        && (index == 0 || agreements[index].residual <= agreements[index - 1].residual)
        && (index == agreements.count - 1
          || agreements[index].residual <= agreements[index + 1].residual)
    }.min { agreements[$0].residual < agreements[$1].residual }
  }

  private func refined(
    _ coarse: LagGrid, _ agreement: TurnSums.Agreement, at place: Int, _ usable: [CameraTurn],
    of given: Int, _ gyroscope: GyroscopeIntegral
  ) throws(TimeOffsetRefusal) -> TimeOffset {
    let middle = coarse.lags[place]
    let steps = Self.fineReach / Self.fineStep
    let lags = (-steps...steps).map { middle + $0 * Self.fineStep }
    let kept = withoutOutliers(usable, gyroscope, at: middle, agreement)
    let fine = LagGrid(kept, gyroscope, lags, rule, Self.blocks)
    let whole = fine.total()
    guard let minimum = ResidualMinimum(lags, whole) else {
      throw .outsideSearch(nanoseconds: middle)
    }
    let found = minimum.nanoseconds
    let half = try halfWidth(fine, whole)
    guard half <= Self.mostHalfWidth else {
      throw .imprecise(halfWidthNanoseconds: Int64(min(half, 1e15)))
    }
    let at = minimum.nearest
    guard let there = whole[at].agreement else { throw .outsideSearch(nanoseconds: middle) }
    // Slow turns agree well at wrong offsets, too, but what is left of them lasts.
    if 1 - there.correlation > Self.smallRest,
      memory(fine.turns, gyroscope, at: lags[at], there) > Self.longMemory
    {
      throw .noAgreement(correlation: there.correlation)
    }
    return TimeOffset(
      nanoseconds: Int64(found.rounded()), lowNanoseconds: Int64((found - half).rounded(.down)),
      highNanoseconds: Int64((found + half).rounded(.up)),
      correlation: there.correlation, residual: there.residual.squareRoot(),
      turns: fine.turns.count, seconds: fine.seconds, outliers: given - kept.count)
  }

  /// How much of what is left at one moment is still left 0.1 s later, -1 to 1: near 0 for noise, more where
  /// two motions differ.
  private func memory(
    _ turns: [CameraTurn], _ gyroscope: GyroscopeIntegral, at lag: Int64,
    _ agreement: TurnSums.Agreement
  ) -> Double {
    let rests = self.rests(turns, gyroscope, at: lag, agreement)
    guard let typical = Median.upper(turns.map(\.seconds)), typical > 0 else { return 0 }
    let distance = max(1, Int((0.1 / typical).rounded()))
    var (square, product) = (0.0, 0.0)
    for index in rests.indices {
      square += (rests[index] * rests[index]).sum()
      if index >= distance { product += (rests[index] * rests[index - distance]).sum() }
    }
    return square > 0 ? product / square : 0
  }

  /// What is left of each turn, rad/s; zero where the gyroscope does not cover it.
  private func rests(
    _ turns: [CameraTurn], _ gyroscope: GyroscopeIntegral, at lag: Int64,
    _ agreement: TurnSums.Agreement
  ) -> [SIMD3<Double>] {
    let starts = gyroscope.points(at: turns.map(\.start), shiftedBy: lag)
    let ends = gyroscope.points(at: turns.map(\.end), shiftedBy: lag)
    let isCovered = turns.indices.map { index in
      starts[index].stretch != nil && starts[index].stretch == ends[index].stretch
    }
    let filter = QuickPart(turns, seconds: rule.window)
    let camera = filter.of(turns.indices.map { isCovered[$0] ? turns[$0].rate : .zero })
    let rates = filter.of(
      turns.indices.map { index in
        isCovered[index] ? (ends[index].sum - starts[index].sum) / turns[index].seconds : .zero
      })
    return turns.indices.map { index in
      isCovered[index]
        ? agreement.rest(camera: camera[index], gyroscope: rates[index]) : .zero
    }
  }

  /// Half the width of the interval of 95 %, nanoseconds.
  private func halfWidth(
    _ grid: LagGrid, _ whole: [TurnSums]
  ) throws(TimeOffsetRefusal) -> Double {
    guard grid.blockCount >= Self.leastBlocks else {
      throw .tooShort(turns: grid.turns.count, seconds: grid.seconds)
    }
    var estimates: [Double] = []
    for block in 0..<grid.blockCount {
      let rest = grid.lags.indices.map { whole[$0] - grid.sums[$0][block] }
      guard let estimate = ResidualMinimum(grid.lags, rest)?.nanoseconds else {
        throw .imprecise(halfWidthNanoseconds: Self.fineReach)
      }
      estimates.append(estimate)
    }
    let count = Double(estimates.count)
    let mean = estimates.reduce(0, +) / count
    let spread = estimates.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } * (count - 1) / count
    return max(
      Self.leastHalfWidth,
      Self.studentQuantile(degreesOfFreedom: grid.blockCount - 1) * spread.squareRoot()
        * Self.wideningOfInterval)
  }

  /// The value that 5 % of Student's distribution exceed in size.
  ///
  /// Cornish and Fisher's expansion: within 0.2 % from 4 degrees of freedom on; less than 4 count as 4.
  private static func studentQuantile(degreesOfFreedom count: Int) -> Double {
    let n = Double(max(4, count))
    let z = 1.959_963_984_540_054
    let (z3, z5) = (z * z * z, z * z * z * z * z)
    let z7 = z5 * z * z
    return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n)
      + (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n)
  }

  /// The logarithm of how much likelier one offset is than another, if what is left is noise.
  private static func evidence(
    _ one: TurnSums.Agreement, over other: TurnSums.Agreement, _ turns: Int
  ) -> Double {
    // A floor, since without noise any ratio is large.
    let floor = 1e-6 * (one.gyroscopeVariance + one.cameraVariance)
    return Double(turns) * log((other.residual + floor) / (one.residual + floor))
  }

  /// The turns without those that differ six times as much as half of them do.
  private func withoutOutliers(
    _ turns: [CameraTurn], _ gyroscope: GyroscopeIntegral, at lag: Int64,
    _ agreement: TurnSums.Agreement
  ) -> [CameraTurn] {
    let squares = rests(turns, gyroscope, at: lag, agreement).map { ($0 * $0).sum() }
    guard let middle = Median.upper(squares) else { return turns }
    let limit = max(36 * middle, Self.leastOutlier * Self.leastOutlier)
    return turns.indices.filter { squares[$0] <= limit }.map { turns[$0] }
  }

  private static func blocks(_ seconds: Double) -> Int {
    min(mostBlocks, max(1, Int(seconds / secondsOfBlock)))
  }

  private static func lowest(_ agreements: [TurnSums.Agreement]) -> Int {
    agreements.indices.min { agreements[$0].residual < agreements[$1].residual } ?? 0
  }
}

/// What is asked of rotations before a time offset is told from them.
public struct TimeOffsetRule: Hashable, Sendable {
  /// Least root mean square of both rotations, rad/s.
  var leastRotation: Double
  var leastCorrelation: Double
  /// The logarithm of how much likelier an offset must be than any other.
  var leastEvidence: Double
  /// Only what changes within this time is compared, seconds; `nil` for all.
  var window: Double?
  /// Added to the noise of a block's own offset, nanoseconds: interpolation, axes that are not quite right and, in
  /// pictures, the camera's motion, which lasts.
  var leastBlockDeviation: Double

  /// Rotations by poses are those of the camera: about a degree per second is enough.
  public static let poses = TimeOffsetRule(
    leastRotation: 0.02, leastCorrelation: 0.7, leastEvidence: 30, window: nil,
    leastBlockDeviation: 300_000)

  /// Rotations by pictures hold the camera's motion, too, which changes slowly: only what is quick, the tremor of
  /// a hand, is compared.
  public static let pictures = TimeOffsetRule(
    leastRotation: 0.005, leastCorrelation: 0.4, leastEvidence: 15, window: 0.3,
    leastBlockDeviation: 2_000_000)
}

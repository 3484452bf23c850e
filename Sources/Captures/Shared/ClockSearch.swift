import Core

/// Finds the constant between two clocks from the times of events that both recorded, each with
/// losses of its own.
///
/// All constants that pair at least one item with one row are candidates, in both directions. The
/// best one pairs most, and of equal ones with the smallest differences. It is proved if no other
/// one, at least half a period away, pairs as many or as many but one. Evenly spaced times prove
/// nothing: with the next constant only the last pair has no partner.
struct ClockSearch {
  /// The largest difference within a pair, below half a period.
  let tolerance: Int64
  private let items: [Int64]
  private let rows: [Int64]
  private let period: Int64
  private let endTogether: Bool

  private static let smallestTolerance: Int64 = 2_000_000
  /// Up to so many differences are listed; of more, their histogram is computed by a transform.
  private static let mostListed = 1 << 18
  /// Limit on the steps of all walks together: about a fifth of a second.
  private static let mostSteps = 1 << 26

  /// Both ascend strictly and are not empty.
  ///
  /// - Parameter endTogether: whether the app records an item with each row. A constant that leaves
  ///   nothing of the shorter side over is then proved if no other one does.
  init(_ items: [Int64], tickNanoseconds: Int64, _ rows: [Int64], endTogether: Bool) {
    self.items = items
    self.rows = rows
    self.endTogether = endTogether
    period = max(1, [items, rows].compactMap(Self.shorterStep).min() ?? .max / 4)
    tolerance = max(
      0,
      min(
        max(Self.smallestTolerance, 2 &* max(0, min(tickNanoseconds, .max / 8))), (period - 1) / 2))
  }

  /// The mean of the shorter half of the steps: where every second frame is lost, the median step is that of two
  /// frames.
  private static func shorterStep(_ times: [Int64]) -> Int64? {
    let steps = zip(times.dropFirst(), times).map { $0 &- $1 }.sorted()
    let half = steps.prefix((steps.count + 1) / 2)
    return half.isEmpty ? nil : half.reduce(0) { $0 &+ $1 / Int64(half.count) }
  }

  struct Found {
    var constant: Int64
    /// The row of each item.
    var rows: [Int?]
    /// How many items have a row within the tolerance.
    var pairs: Int
    var isProved: Bool
    /// Whether other constants pair as many; else, if it is not proved, as many but one.
    var hasEquals: Bool
    /// The distance to the farthest of the other possible constants.
    var mostOff: Int64
  }

  /// Whether each item lies at the row of its rank or `shift` behind it, all within the tolerance.
  func fits(ranksBy shift: Int) -> Bool {
    guard shift < rows.count else { return false }
    let constant = rows[shift] &- items[0]
    return zip(items, rows.dropFirst(shift)).allSatisfy { abs(($0 &+ constant) &- $1) <= tolerance }
  }

  /// The row of each item: of those within the tolerance, and of their neighbors whose distance from
  /// them agrees within half a period, as where a clock is coarser or runs a little faster.
  private func rows(at constant: Int64, fromFront: Bool = false) -> [Int?] {
    var within = [Int?](repeating: nil, count: items.count)
    _ = fit(at: constant, within: tolerance) { within[$0] = $1 }
    guard within.contains(nil) else { return within }
    // Where clocks drift by a period, what fits far from one run fits by chance.
    let found = extended(run(of: within, isFirst: fromFront), constant)
    let other = extended(within, constant)
    return Self.pairs(other) > Self.pairs(found) ? other : found
  }

  private static func pairs(_ rows: [Int?]) -> Int { rows.count { $0 != nil } }

  /// The rows of neighboring items that all have one: of the first such run, or of the longest.
  private func run(of rows: [Int?], isFirst: Bool) -> [Int?] {
    var run = 0..<0
    var start = 0
    for item in rows.indices where rows[item] == nil || item == rows.count - 1 {
      let end = rows[item] == nil ? item : item + 1
      if end - start > run.count { run = start..<end }
      if isFirst, !run.isEmpty { break }
      start = item + 1
    }
    return rows.indices.map { run.contains($0) ? rows[$0] : nil }
  }

  private func extended(_ within: [Int?], _ constant: Int64) -> [Int?] {
    var found = within
    guard found.contains(nil), let first = found.firstIndex(where: { $0 != nil }) else {
      return found
    }
    extend(&found, Array(first..<items.count), constant, direction: 1)
    extend(&found, (0...first).reversed(), constant, direction: -1)
    return found
  }

  /// Gives rows between those of paired items to the items between them, in the order of `walk`,
  /// which begins with a paired item.
  private func extend(_ found: inout [Int?], _ walk: [Int], _ constant: Int64, direction: Int) {
    // The next paired row of the walk bounds the rows that an item may take.
    var bounds = [Int](repeating: direction > 0 ? rows.count : -1, count: walk.count + 1)
    for place in walk.indices.reversed() { bounds[place] = found[walk[place]] ?? bounds[place + 1] }
    let half = (period - 1) / 2
    var constant = constant
    var row = bounds[0]
    for (place, item) in walk.enumerated() {
      if let paired = found[item] { row = paired }
      func difference() -> Int64 { rows[row] &- (items[item] &+ constant) }
      if found[item] == nil {
        while row != bounds[place], difference() &* Int64(direction) < -half { row += direction }
        guard row != bounds[place], abs(difference()) <= half else { continue }
        found[item] = row
      }
      // A mean over some pairs follows a clock that runs faster, not the error of one time.
      constant = constant &+ difference() / 8
      row += direction
    }
  }

  /// - Parameter preferred: of several possible constants the one to take; by default the one with
  ///   which the first item belongs to the first row.
  func found(preferring preferred: Int64?) -> Found {
    let front = rows[0] &- items[0]
    let back = rows[rows.count - 1] &- items[items.count - 1]
    var fits = ([front, back] + [preferred].compactMap(\.self)).map(refined)
    var best = fits[0]
    for fit in fits where fit.isBetter(than: best) { best = fit }
    var steps = 0
    var isExhausted = false
    for candidate in candidates(pairing: best.pairs - 1) {
      // No later candidate can pair as many but one.
      guard candidate.bound >= best.pairs - 1 else { break }
      let constants = constants(of: candidate, pairing: best.pairs - 1)
      steps += 5 * (items.count + rows.count) * max(1, constants?.count ?? 0)
      isExhausted = constants == nil || steps > Self.mostSteps
      if isExhausted { break }
      for fit in (constants ?? []).map(refined) {
        fits.append(fit)
        if fit.isBetter(than: best) { best = fit }
      }
    }
    let most = min(items.count, rows.count)
    let rivals = endTogether && best.pairs == most ? best.pairs : best.pairs - 1
    let others = fits.filter { $0.pairs >= rivals && !isSame($0.constant, best.constant) }
    let isMuch = 3 * best.pairs >= most
    let isProved = others.isEmpty && !isExhausted && isMuch
    let equals = others.filter { $0.pairs == best.pairs }
    var (chosen, chosenRows) = (best, rows(at: best.constant))
    // Of coarse times few are within the tolerance, and by chance more at a wrong constant: what counts is
    // how many get a row.
    let isCoarse = 20 * best.pairs < 19 * Self.pairs(chosenRows)
    for constant in isProved && !isCoarse ? [] : [preferred, front].compactMap(\.self) {
      let fit = refined(constant)
      let rows = rows(at: fit.constant, fromFront: true)
      // Where not all but one fit alike, one gap speaks for the best one, though it proves nothing.
      let isAsGood =
        isCoarse ? !isProved || 5 * fit.pairs >= 4 * best.pairs : fit.pairs == best.pairs
      guard isAsGood, Self.pairs(rows) >= Self.pairs(chosenRows) else { continue }
      (chosen, chosenRows) = (fit, rows)
      break
    }
    if isProved, isSame(chosen.constant, best.constant) {
      return Found(
        constant: best.constant, rows: chosenRows, pairs: best.pairs, isProved: true,
        hasEquals: false, mostOff: 0)
    }
    let possible = (equals.isEmpty ? others : equals) + [best]
    return Found(
      constant: chosen.constant, rows: chosenRows, pairs: chosen.pairs, isProved: false,
      hasEquals: !equals.isEmpty,
      mostOff: possible.map { abs($0.constant &- chosen.constant) }.max() ?? 0)
  }

  /// Whether two constants are less than half a period apart.
  private func isSame(_ a: Int64, _ b: Int64) -> Bool { abs(a &- b) < (period + 1) / 2 }

  // MARK: One constant

  private struct Fit {
    var constant: Int64
    var pairs = 0
    var sum = 0.0
    var squares = 0.0

    func isBetter(than other: Fit) -> Bool {
      pairs > other.pairs || (pairs == other.pairs && squares < other.squares)
    }
  }

  /// Pairs items and rows in order, each with at most one, by a walk along both.
  private func fit(
    at constant: Int64, within tolerance: Int64,
    _ pair: (_ item: Int, _ row: Int) -> Void = { _, _ in }
  ) -> Fit {
    var fit = Fit(constant: constant)
    var (item, row) = (0, 0)
    while item < items.count, row < rows.count {
      let difference = rows[row] &- (items[item] &+ constant)
      if difference > tolerance {
        item += 1
      } else if difference < -tolerance {
        row += 1
      } else {
        pair(item, row)
        fit.pairs += 1
        fit.sum += Double(difference)
        fit.squares += Double(difference) * Double(difference)
        item += 1
        row += 1
      }
    }
    return fit
  }

  /// The best constant near a candidate: the mean difference of the pairs centers it.
  private func refined(_ constant: Int64) -> Fit {
    var best = fit(at: constant, within: tolerance)
    // Pairs a little beyond the tolerance of a constant that is not centered count for its center.
    var last = fit(at: constant, within: min(3 * tolerance, (period - 1) / 2))
    for _ in 0..<3 where last.pairs > 0 {
      last = fit(
        at: last.constant &+ Int64((last.sum / Double(last.pairs)).rounded()), within: tolerance)
      if last.isBetter(than: best) { best = last }
    }
    return best
  }

  // MARK: All constants

  private struct Candidate {
    var constant: Int64
    /// No constant near it pairs more.
    var bound: Int
    /// Where the constants near it lie, if they are too far apart for one walk.
    var range: ClosedRange<Int64>?
  }

  /// The constants near a candidate that may pair at least `pairs`. `nil` if there are too many.
  private func constants(of candidate: Candidate, pairing pairs: Int) -> [Int64]? {
    guard let range = candidate.range else { return [candidate.constant] }
    return listed(in: range)?.filter { $0.bound >= pairs }.map(\.constant)
  }

  /// The constants that may pair at least `pairs`, the most promising first.
  private func candidates(pairing pairs: Int) -> [Candidate] {
    let least = min(max(1, pairs), items.count, rows.count)
    // With any other constant fewer items than that lie among the rows, or fewer rows among the items.
    let low = max(
      rows[0] &- items[items.count - least], rows[least - 1] &- items[items.count - 1])
    let high = min(rows[rows.count - 1] &- items[least - 1], rows[rows.count - least] &- items[0])
    guard low &- tolerance <= high &+ tolerance else { return [] }
    let range = low &- tolerance...high &+ tolerance
    return (listed(in: range) ?? transformed(in: range)).filter { $0.bound >= least }
      .sorted { ($0.bound, $1.constant) > ($1.bound, $0.constant) }
  }

  /// From the sorted list of all differences: as many lie within a tolerance of a constant as it
  /// pairs. `nil` if there are too many.
  private func listed(in range: ClosedRange<Int64>) -> [Candidate]? {
    var differences: [Int64] = []
    var first = 0
    for row in rows {
      while first < items.count, row &- items[first] > range.upperBound { first += 1 }
      var item = first
      while item < items.count, row &- items[item] >= range.lowerBound {
        differences.append(row &- items[item])
        item += 1
      }
      guard differences.count <= Self.mostListed else { return nil }
    }
    differences.sort()
    var found: [Candidate] = []
    var (start, end) = (0, 0)
    while start < differences.count {
      // The fullest window of those that begin within a tolerance counts.
      let limit = differences[start] &+ tolerance
      var fullest = Candidate(constant: 0, bound: 0)
      while start < differences.count, differences[start] <= limit {
        while end < differences.count, differences[end] <= differences[start] &+ 2 * tolerance {
          end += 1
        }
        if end - start > fullest.bound {
          let half = (differences[end - 1] &- differences[start]) / 2
          fullest = Candidate(constant: differences[start] &+ half, bound: end - start)
        }
        start += 1
      }
      found.append(fullest)
    }
    return found
  }

  /// From the correlation of both series in cells of a tolerance: four neighboring cells hold all
  /// pairs of a constant.
  private func transformed(in range: ClosedRange<Int64>) -> [Candidate] {
    let spans = (items[items.count - 1] &- items[0]) &+ (rows[rows.count - 1] &- rows[0])
    // Long pauses must not make more than some cells per item.
    let most = min(64 * (items.count + rows.count), PairCounts.mostCells)
    let cell = max(1, tolerance, spans / Int64(most) + 1)
    let zero = rows[0] &- items[0]
    func cells(_ times: [Int64]) -> [Int] { times.map { Int(($0 &- times[0]) / cell) } }
    let counts = PairCounts(cells(items), cells(rows))
    var found: [Candidate] = []
    var start = counts.least
    while start <= counts.greatest {
      // The fuller of two neighboring windows counts.
      let (place, bound) =
        [start, start + 1].map { ($0, counts.sum($0..<$0 + 4)) }
        .max { $0.1 < $1.1 } ?? (start, 0)
      let constant = zero &+ Int64((Double(place) + 1.5) * Double(cell))
      // Cells that are wider than a tolerance hold more constants than a walk from their middle finds.
      let ends = [
        zero &+ Int64(start) &* cell &- tolerance, zero &+ Int64(start + 3) &* cell &+ tolerance,
      ].sorted()
      let near = ends[0]...ends[1]
      if bound > 0, cell > tolerance ? range.overlaps(near) : range.contains(constant) {
        found.append(
          Candidate(constant: constant, bound: bound, range: cell > tolerance ? near : nil))
      }
      start += 2
    }
    return found
  }
}

/// How often each difference `b - a` occurs between two ascending lists of numbers from 0.
///
/// Computed exactly, by number-theoretic transforms. Cost: of the order n log n of the greatest
/// numbers, eight bytes for each.
private struct PairCounts {
  /// Limit on the sum of both greatest numbers.
  static let mostCells = 1 << 22
  /// 119 · 2²³ + 1, a prime with roots of unity for all sizes up to 2²³; 3 generates all.
  private static let prime: UInt64 = 998_244_353

  private let values: [UInt32]
  let least: Int
  let greatest: Int

  init(_ a: [Int], _ b: [Int]) {
    least = -(a.last ?? 0)
    greatest = b.last ?? 0
    var size = 2
    while size <= greatest - least { size *= 2 }
    var first = [UInt32](repeating: 0, count: size)
    var second = first
    for number in a { first[-least - number] += 1 }
    for number in b { second[number] += 1 }
    Self.transform(&first, isInverse: false)
    Self.transform(&second, isInverse: false)
    let scale = Self.power(UInt64(size), Self.prime - 2)
    for index in first.indices {
      first[index] = UInt32(
        UInt64(first[index]) * UInt64(second[index]) % Self.prime * scale % Self.prime)
    }
    Self.transform(&first, isInverse: true)
    values = first
  }

  func sum(_ differences: Range<Int>) -> Int {
    differences.clamped(to: least..<greatest + 1).reduce(0) { $0 + Int(values[$1 - least]) }
  }

  private static func power(_ base: UInt64, _ exponent: UInt64) -> UInt64 {
    var (result, square, left): (UInt64, UInt64, UInt64) = (1, base, exponent)
    while left > 0 {
      if left & 1 == 1 { result = result * square % prime }
      square = square * square % prime
      left >>= 1
    }
    return result
  }

  /// In place; the size is a power of two.
  private static func transform(_ values: inout [UInt32], isInverse: Bool) {
    let size = values.count
    values.withUnsafeMutableBufferPointer { values in
      var reversed = 0
      for index in 1..<size {
        var bit = size >> 1
        while reversed & bit != 0 {
          reversed ^= bit
          bit >>= 1
        }
        reversed |= bit
        if index < reversed { values.swapAt(index, reversed) }
      }
      var roots = [UInt32](repeating: 1, count: size / 2)
      var half = 1
      while half < size {
        let exponent = (prime - 1) / UInt64(2 * half)
        let root = power(3, isInverse ? prime - 1 - exponent : exponent)
        for k in 1..<max(1, half) { roots[k] = UInt32(UInt64(roots[k - 1]) * root % prime) }
        roots.withUnsafeBufferPointer { roots in
          for start in stride(from: 0, to: size, by: 2 * half) {
            for k in 0..<half {
              let low = UInt64(values[start + k])
              let high = UInt64(values[start + k + half]) * UInt64(roots[k]) % prime
              values[start + k] = UInt32((low + high) % prime)
              values[start + k + half] = UInt32((low + prime - high) % prime)
            }
          }
        }
        half *= 2
      }
    }
  }
}

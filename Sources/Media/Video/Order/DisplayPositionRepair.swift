/// Finds display positions for pictures with damaged headers among those that their neighbors leave
/// free.
struct DisplayPositionRepair {
  private var positions: [DisplayPosition?]

  /// A picture is displayed at most 16 pictures before or after its turn; a larger distance means
  /// damage.
  private static let farthest = 32

  init(_ positions: [DisplayPosition?]) {
    self.positions = positions
    dropOutliers()
  }

  /// Removes impossible positions: two pictures at one position, or far from the neighbors.
  private mutating func dropOutliers() {
    guard zip(positions, positions.dropFirst()).contains(where: { isOdd($0, $1) }) else { return }
    var met = Set<DisplayPosition>()
    for index in positions.indices {
      guard let position = positions[index] else { continue }
      if !met.insert(position).inserted { positions[index] = nil }
    }
    let known = positions.indices.filter { positions[$0] != nil }
    let shown = known.indices.sorted { (a, b) in
      guard let first = positions[known[a]], let second = positions[known[b]] else { return a < b }
      return (first, a) < (second, b)
    }
    for (displayIndex, turn) in shown.enumerated() where abs(displayIndex - turn) > Self.farthest {
      positions[known[turn]] = nil
    }
  }

  private func isOdd(_ a: DisplayPosition?, _ b: DisplayPosition?) -> Bool {
    guard let a, let b else { return true }
    return b <= a
  }

  /// Puts each picture without position after the one that is displayed just before it by the
  /// times.
  mutating func fill(from ticks: [Int64]) {
    // Doubles the distance between neighbors to make positions available.
    positions = positions.map {
      $0.map { DisplayPosition(sequence: $0.sequence, order: 2 * $0.order) }
    }
    let known = positions.indices.filter { positions[$0] != nil }.sorted { ticks[$0] < ticks[$1] }
    for index in positions.indices where positions[index] == nil {
      var (low, high) = (0, known.count)
      while low < high {
        let middle = (low + high) / 2
        if ticks[known[middle]] < ticks[index] { low = middle + 1 } else { high = middle }
      }
      let neighbor = low > 0 ? positions[known[low - 1]] : known.first.flatMap { positions[$0] }
      positions[index] = neighbor.map {
        DisplayPosition(sequence: $0.sequence, order: $0.order + (low > 0 ? 1 : -1))
      }
    }
  }

  /// The positions, with a free one of its sequence for each picture that has none: in a gap of the
  /// usual step, else after all that were decoded before.
  func filled() -> [DisplayPosition] {
    guard positions.contains(where: { $0 == nil }) else { return positions.compactMap(\.self) }
    var gaps = freePositions()
    var result: [DisplayPosition] = []
    result.reserveCapacity(positions.count)
    var latest = DisplayPosition(
      sequence: positions.lazy.compactMap(\.self).first?.sequence ?? 0, order: -1)
    for position in positions {
      if let position {
        result.append(position)
        latest = position.sequence > latest.sequence ? position : max(latest, position)
        continue
      }
      let sequence = latest.sequence
      if let free = gaps[sequence]?.first {
        gaps[sequence]?.removeFirst()
        result.append(DisplayPosition(sequence: sequence, order: free))
      } else {
        result.append(latest)
      }
    }
    return result
  }

  /// For each sequence the numbers that its usual step leaves out, ascending.
  private func freePositions() -> [Int: ArraySlice<Int>] {
    var orders: [Int: [Int]] = [:]
    for position in positions {
      if let position { orders[position.sequence, default: []].append(position.order) }
    }
    return orders.mapValues { unsorted in
      let sorted = unsorted.sorted()
      let steps = zip(sorted.dropFirst(), sorted).map { $0 - $1 }.filter { $0 > 0 }
      // The most frequent step between neighbors.
      var counts: [Int: Int] = [:]
      for step in steps { counts[step, default: 0] += 1 }
      guard let usual = counts.max(by: { ($0.value, -$0.key) < ($1.value, -$1.key) })?.key else {
        return []
      }
      var free: [Int] = []
      for (low, high) in zip(sorted, sorted.dropFirst()) where high - low > usual {
        var next = low + usual
        while next < high, free.count < positions.count {
          free.append(next)
          next += usual
        }
      }
      return free[...]
    }
  }
}

import Core

/// Maps the pictures of a track from decoding order to display order.
///
/// A decoder reports for each picture which packet it came from. A picture that it leaves out
/// therefore leaves a hole at its own display index and shifts no other. Memory: up to 12 bytes per
/// picture.
public struct PictureOrder: Hashable, Sendable {
  public let count: Int
  /// Display index by decoding index; `nil` if both are equal.
  private let displayIndices: [Int32]?
  /// Largest number of pictures decoded before one that is displayed before them.
  let delay: Int
  /// Offset of each picture of a bare stream: the header of its first slice; −1 for a picture that
  /// is lost but that others refer to. Empty for containers, in which every packet that is not
  /// hidden is a picture.
  let offsets: [Int64]
  /// Packets of a container that would be pictures but are not displayed, by the number of pictures
  /// and other such packets before them.
  let hiddenPackets: Set<Int>
  /// Whether the pictures include those that an edit list hides. Packets are then counted without
  /// that list, so a decoder must ignore it, too.
  var ignoresEditList = false

  /// More than any codec allows (16); a larger delay means damage.
  private static let mostDelay = 16

  /// - Parameters:
  ///   - places: display position of each picture in decoding order; `nil` if its header is
  ///     damaged.
  ///   - ticks: presentation times of the pictures, or empty.
  ///   - isReordered: `false` if display order is known to be decoding order.
  init(
    positions: [DisplayPosition?], ticks: [Int64] = [], offsets: [Int64] = [],
    isReordered: Bool = true,
    hiddenPackets: [Int] = []
  ) {
    count = positions.count
    self.hiddenPackets = Set(hiddenPackets)
    self.offsets = offsets
    guard isReordered, let order = Self.displayOrder(positions, ticks) else {
      (displayIndices, delay) = (nil, 0)
      return
    }
    var displayIndices = [Int32](repeating: 0, count: order.count)
    for (displayIndex, picture) in order.enumerated() {
      displayIndices[picture] = Int32(clamping: displayIndex)
    }
    self.displayIndices = displayIndices
    delay = Self.delay(displayIndices)
  }

  /// Order by times if the codec may reorder pictures, else decoding order.
  init(ticks: [Int64], mayReorder: Bool) {
    self.init(
      positions: ticks.map { DisplayPosition(sequence: 0, order: Int($0)) }, isReordered: mayReorder
    )
  }

  /// The display index of the picture with decoding index `picture`.
  public func displayIndex(_ picture: Int) -> Int {
    guard let displayIndices, displayIndices.indices.contains(picture) else { return picture }
    return Int(displayIndices[picture])
  }

  /// `values` of pictures in decoding order, rearranged to display order.
  func sorted<Value>(_ values: [Value]) -> [Value] {
    guard let displayIndices, displayIndices.count == values.count else { return values }
    var order = [Int](repeating: 0, count: values.count)
    for (picture, displayIndex) in displayIndices.enumerated() {
      order[Int(displayIndex)] = picture
    }
    return order.map { values[$0] }
  }

  /// Decoding indices in display order; `nil` if it is decoding order.
  private static func displayOrder(_ positions: [DisplayPosition?], _ ticks: [Int64]) -> [Int]? {
    let known = positions.indices.filter { positions[$0] != nil }
    let isTimed = ticks.count == positions.count
    // Without any position only the times remain.
    guard !known.isEmpty else {
      guard isTimed else { return nil }
      let order = positions.indices.sorted { (ticks[$0], $0) < (ticks[$1], $1) }
      return order.elementsEqual(positions.indices) ? nil : order
    }
    var damage = DisplayPositionRepair(positions)
    if isTimed, known.count < positions.count { damage.fill(from: ticks) }
    let filled = damage.filled()
    // Times decide between equal positions, which only pictures without header have; else decoding order.
    func isBefore(_ a: Int, _ b: Int) -> Bool {
      if filled[a] != filled[b] { return filled[a] < filled[b] }
      return isTimed && ticks[a] != ticks[b] ? ticks[a] < ticks[b] : a < b
    }
    let isOrdered = zip(filled.indices, filled.indices.dropFirst()).allSatisfy(isBefore)
    if isOrdered { return nil }
    return filled.indices.sorted(by: isBefore)
  }

  private static func delay(_ displayIndices: [Int32]) -> Int {
    // Pictures that are decoded while an earlier displayed one is not; ascending.
    var waiting: [Int32] = []
    var nextShown: Int32 = 0
    var most = 0
    for displayIndex in displayIndices {
      let position = waiting.firstIndex { $0 > displayIndex } ?? waiting.count
      most = max(most, waiting.count - position)
      waiting.insert(displayIndex, at: position)
      let isShown = waiting.enumerated().prefix { $0.element == nextShown + Int32($0.offset) }.count
      nextShown += Int32(isShown)
      waiting.removeFirst(isShown)
      // So many occur only after damage.
      if waiting.count > 4096 { return mostDelay }
    }
    return min(most, mostDelay)
  }
}

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
      let low = known.partitioningIndex { ticks[$0] >= ticks[index] }
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

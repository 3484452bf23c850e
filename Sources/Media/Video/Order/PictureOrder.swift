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

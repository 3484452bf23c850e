/// Which decoded picture is which: the pictures of a track counted in decoding order, and the rank of each
/// among those that are shown.
///
/// A decoder says of each picture which packet it came from; so a picture that it leaves out leaves a hole
/// at its own rank and moves no other. Memory: up to 12 bytes per picture.
public struct PictureOrder: Hashable, Sendable {
  public let count: Int
  /// Rank of the picture that is decoded as number k; `nil` = k.
  private let ranks: [Int32]?
  /// Up to how many pictures are decoded before one that is shown before them.
  public let delay: Int
  /// Where each picture of a bare stream begins: the head of its first slice; −1 for one that is lost, but
  /// is missed by the others. Empty for containers, in which every packet that is not hidden is a picture.
  let offsets: [Int64]
  /// Packets of a container that would be pictures but are not shown: each the number of pictures that
  /// come before it and of other such packets.
  let hiddenPackets: Set<Int>

  /// More than any codec allows (16); what asks for more is damaged.
  private static let mostDelay = 16

  /// - Parameters:
  ///   - places: of each picture in decoding order; `nil` where its head is damaged.
  ///   - ticks: presentation times of the pictures, or empty.
  ///   - isReordered: `false` where display order is known to be decoding order.
  init(
    places: [DisplayPosition?], ticks: [Int64] = [], offsets: [Int64] = [],
    isReordered: Bool = true,
    hiddenPackets: [Int] = []
  ) {
    count = places.count
    self.hiddenPackets = Set(hiddenPackets)
    self.offsets = offsets
    guard isReordered, let order = Self.displayOrder(places, ticks) else {
      (ranks, delay) = (nil, 0)
      return
    }
    var ranks = [Int32](repeating: 0, count: order.count)
    for (rank, picture) in order.enumerated() { ranks[picture] = Int32(clamping: rank) }
    self.ranks = ranks
    delay = Self.delay(ranks)
  }

  /// Of pictures that are shown as they are decoded, or by their times where the codec may reorder them.
  init(ticks: [Int64], mayReorder: Bool) {
    self.init(
      places: ticks.map { DisplayPosition(sequence: 0, order: Int($0)) }, isReordered: mayReorder)
  }

  /// The rank of the picture that is decoded as number `picture`.
  public func rank(_ picture: Int) -> Int {
    guard let ranks, ranks.indices.contains(picture) else { return picture }
    return Int(ranks[picture])
  }

  /// `values` of pictures in decoding order, in the order in which they are shown.
  func sorted<Value>(_ values: [Value]) -> [Value] {
    guard let ranks, ranks.count == values.count else { return values }
    var order = [Int](repeating: 0, count: values.count)
    for (picture, rank) in ranks.enumerated() { order[Int(rank)] = picture }
    return order.map { values[$0] }
  }

  /// Pictures in the order in which they are shown; `nil` when it is that of decoding.
  private static func displayOrder(_ places: [DisplayPosition?], _ ticks: [Int64]) -> [Int]? {
    let known = places.indices.filter { places[$0] != nil }
    let isTimed = ticks.count == places.count
    // Without a single place the times are all there is.
    guard !known.isEmpty else {
      guard isTimed else { return nil }
      let order = places.indices.sorted { (ticks[$0], $0) < (ticks[$1], $1) }
      return order.elementsEqual(places.indices) ? nil : order
    }
    var damage = PlaceDamage(places)
    if isTimed, known.count < places.count { damage.fill(from: ticks) }
    let filled = damage.filled()
    // Of equal places, which only such without head have, the times tell; else the one decoded first is shown first.
    func isBefore(_ a: Int, _ b: Int) -> Bool {
      if filled[a] != filled[b] { return filled[a] < filled[b] }
      return isTimed && ticks[a] != ticks[b] ? ticks[a] < ticks[b] : a < b
    }
    let isOrdered = zip(filled.indices, filled.indices.dropFirst()).allSatisfy(isBefore)
    if isOrdered { return nil }
    return filled.indices.sorted(by: isBefore)
  }

  private static func delay(_ ranks: [Int32]) -> Int {
    // Decoded, and something that is shown before not yet; ascending.
    var waiting: [Int32] = []
    var nextShown: Int32 = 0
    var most = 0
    for rank in ranks {
      let place = waiting.firstIndex { $0 > rank } ?? waiting.count
      most = max(most, waiting.count - place)
      waiting.insert(rank, at: place)
      let isShown = waiting.enumerated().prefix { $0.element == nextShown + Int32($0.offset) }.count
      nextShown += Int32(isShown)
      waiting.removeFirst(isShown)
      // Only damage lets so many wait.
      if waiting.count > 4096 { return mostDelay }
    }
    return min(most, mostDelay)
  }
}

import Core
import Media

/// What an item of a stream carries that says which frame it belongs to.
struct OpenFolderItem {
  /// The row of the stream's table.
  var row: Int?
  /// The picture's path, as the table or the folder names it.
  var name: String?
  var number: Int?
  var time: Timestamp?
}

/// The items of a stream, in their order.
struct OpenFolderItems {
  var items: [OpenFolderItem] = []
  /// The table whose rows the items are.
  var table: OpenFolderTable.Place?
  var clock: String?
  /// The resolution of the times in nanoseconds.
  var tick: Int64 = 1
  /// Whether times follow from a rate, and pair nothing.
  var hasMadeUpTimes = false
  /// Whether pictures are named after their times: equal names are then equal times, and no more than that.
  var namesAreTimes = false
  var pair: StreamPairing.Way?

  func have(_ key: (OpenFolderItem) -> Bool) -> Bool { items.contains(where: key) }
  var haveTimes: Bool { !hasMadeUpTimes && have { $0.time != nil } }
  var times: [Timestamp] { items.compactMap(\.time) }
  var keys: StreamKeys {
    times.count == items.count
      ? .times(times.map(\.nanoseconds), tickNanoseconds: tick)
      : StreamKeys(rows: items.map(\.time))
  }

  /// Whether numbers tell items apart. Where most repeat, they number something else: a device, a folder.
  var haveNumbers: Bool {
    let numbers = items.compactMap(\.number)
    return !numbers.isEmpty && 2 * Set(numbers).count > numbers.count
  }
}

/// The canonical frames: those of the first stream, and between them the pictures of other streams
/// that none of them has.
struct OpenFolderFrames {
  struct Match {
    /// Frame of item k; `nil` if it has none.
    var frames: [Int?]
    /// How many items belong to frames that were there before.
    var paired = 0
    /// Whether the items are the frames themselves.
    var isFirst = false
    /// How many items became frames of their own beside those that were there before.
    var ownFrames = 0
    var way = StreamPairing.Way.rank
    var doubt: String?
    /// The color pictures before (without any, the frames), where items with times of their own come at the same rate;
    /// else `nil`: streams of different rates have no partner for each other's items.
    var framesOfSameRate: Int?
    /// What must be added to the items' times; `nil` if their clock has nothing to do with the frames'.
    var constant: Int64?
  }

  /// What all frames have in common, and what each of them carries.
  private(set) var shared = OpenFolderItems()
  /// The picture of each frame.
  private(set) var color: [Int?] = []
  private(set) var depth: [Int?] = []
  private(set) var depthTimes: [Timestamp?] = []
  /// The frames that depth pictures brought with them.
  private(set) var isOfDepth: [Bool] = []

  var items: [OpenFolderItem] { shared.items }

  /// Gives items to frames; pictures that belong to none become frames of their own.
  ///
  /// - Parameter picture: the stream of pictures, color or depth; `nil` for rows.
  mutating func add(_ added: OpenFolderItems, as picture: CapturePart?) -> Match {
    var match = Match(
      frames: Array(added.items.indices), paired: added.items.count, isFirst: true, constant: 0)
    if items.isEmpty {
      shared = added
      shared.items = []
    } else {
      match = self.match(added)
    }
    if !shared.haveTimes, added.haveTimes {
      (shared.clock, shared.hasMadeUpTimes) = (added.clock, false)
      for index in items.indices { shared.items[index].time = nil }
    }
    let constant = match.constant ?? (added.clock == shared.clock ? 0 : nil)
    var places: [Int] = []
    for (index, item) in added.items.enumerated() {
      var own = item
      own.time = constant.flatMap { item.time?.advanced(byNanoseconds: $0) }
      if added.table != shared.table { own.row = nil }
      let frame = match.frames[index] ?? items.count
      if frame == items.count {
        shared.items.append(own)
        color.append(nil)
        depth.append(nil)
        depthTimes.append(nil)
        isOfDepth.append(picture == .depth)
        if match.frames[index] == nil { places.append(frame) }
      } else {
        shared.items[frame].time = items[frame].time ?? own.time
        shared.items[frame].number = items[frame].number ?? own.number
        shared.items[frame].name = items[frame].name ?? (picture == .color ? own.name : nil)
      }
      switch picture {
      case .color: color[frame] = index
      case .depth: (depth[frame], depthTimes[frame]) = (index, own.time ?? items[frame].time)
      default: break
      }
    }
    guard !places.isEmpty else { return match }
    match.ownFrames = places.count
    let order = order(placing: places.count)
    shared.items = order.map { items[$0] }
    color = order.map { color[$0] }
    depth = order.map { depth[$0] }
    depthTimes = order.map { depthTimes[$0] }
    isOfDepth = order.map { isOfDepth[$0] }
    var frameOf = [Int](repeating: 0, count: order.count)
    for (new, old) in order.enumerated() { frameOf[old] = new }
    var appended = places.makeIterator()
    match.frames = match.frames.map { ($0 ?? appended.next()).map { frameOf[$0] } }
    return match
  }

  /// The order of frames with the last `count` ones at their places, by time, or else by number;
  /// they stay behind where the others are in no order.
  private func order(placing count: Int) -> [Int] {
    func sorted<Key: Comparable>(_ key: (OpenFolderItem) -> Key?) -> [Int]? {
      let keys = items.compactMap(key)
      guard keys.count == items.count,
        zip(keys, keys.dropFirst()).prefix(max(0, keys.count - count - 1)).allSatisfy({ $0 <= $1 })
      else { return nil }
      // Swift's sort is stable.
      return keys.indices.sorted { keys[$0] < keys[$1] }
    }
    return sorted(\.time) ?? sorted(\.number) ?? Array(items.indices)
  }

  /// The frame of each item, by what both carry.
  func match(_ added: OpenFolderItems) -> Match {
    var match = found(added)
    match.paired = match.frames.count { $0 != nil }
    let pictures = items.indices.filter { color[$0] != nil }
    let others = pictures.isEmpty ? items : pictures.map { items[$0] }
    if match.way == .time, let own = TimeSteps(added.times.sorted()).rateHz,
      let rate = TimeSteps(others.compactMap(\.time).sorted()).rateHz,
      (0.8...1.25).contains(own / rate)
    {
      match.framesOfSameRate = others.count
    }
    return match
  }

  /// The times of items of the frames' clock of which fewer than a tenth are near a frame, as far as there are frames;
  /// `nil` for all others.
  func distant(
    _ added: OpenFolderItems
  ) -> (paired: Int, own: ClosedRange<Timestamp>, frames: ClosedRange<Timestamp>)? {
    let (own, known) = (added.times, shared.times)
    guard added.haveTimes, shared.haveTimes, added.clock == shared.clock,
      let first = own.min(), let last = own.max(), let start = known.min(), let end = known.max()
    else { return nil }
    let match = match(added)
    guard match.way == .time, 10 * match.paired < min(own.count, known.count) else { return nil }
    return (match.paired, first...last, start...end)
  }

  private func found(_ added: OpenFolderItems) -> Match {
    let haveTimes = added.haveTimes && shared.haveTimes
    let isSameClock = haveTimes && added.clock == shared.clock
    let haveNumbers = added.haveNumbers && shared.haveNumbers
    if added.pair == nil {
      if let table = added.table, table == shared.table { return byKey(added, \.row) }
      let byPath = byKey(added, \.name)
      if byPath.frames.contains(where: { $0 != nil }) { return byPath }
      if !(added.namesAreTimes && shared.namesAreTimes) {
        let byName = byKey(added) { item in item.name.map { OpenFolderContent.stem($0) } }
        let pairs = zip(added.items, byName.frames).compactMap { item, frame in
          frame.map { (item.time, items[$0].time) }
        }
        // Each stream may count from 0 for itself: equal names of a few items prove nothing beside other keys, and none do
        // where the times of both tell that they are not one moment.
        let areMany = 2 * pairs.count >= min(added.items.count, items.count)
        let step = TimeSteps(shared.times.sorted()).medianNanoseconds ?? .max
        let apart = pairs.count { own, other in
          guard isSameClock, let own, let other else { return false }
          return abs(max(own - other, -.max)) > step
        }
        if !pairs.isEmpty, 2 * apart <= pairs.count, areMany || !(haveTimes || haveNumbers) {
          return byName
        }
      }
    }
    switch added.pair ?? (haveTimes ? .time : haveNumbers ? .number : .rank) {
    case .time where isSameClock: return nearest(added)
    case .time where haveTimes:
      return Match(StreamMatch(added.keys, with: shared.keys, nouns: ("item", "frame")))
    case .number where haveNumbers: return byKey(added, \.number)
    case let way:
      var match = Match(
        StreamMatch(
          .rank(added.items.count), with: .rank(items.count), nouns: ("item", "frame")))
      if way != .rank {
        match.doubt = "pair is \(way.rawValue), but not both have one; they are paired by order"
      }
      return match
    }
  }

  /// Items and frames with equal keys. A key that comes twice pairs once.
  private func byKey<Key: Hashable>(
    _ added: OpenFolderItems, _ key: (OpenFolderItem) -> Key?
  ) -> Match {
    var places: [Key: Int] = [:]
    for (index, item) in items.enumerated() {
      if let own = key(item), places[own] == nil { places[own] = index }
    }
    return Match(
      frames: added.items.map { key($0).flatMap { places.removeValue(forKey: $0) } }, way: .number)
  }

  /// On one clock, an item belongs to the nearest frame, at most half the usual step of the frames and one of its own
  /// away; each frame gets the nearest item.
  private func nearest(_ added: OpenFolderItems) -> Match {
    let known = items.indices.compactMap { index in
      items[index].time.map { (time: $0, frame: index) }
    }.sorted { ($0.time, $0.frame) < ($1.time, $1.frame) }
    let own = TimeSteps(added.times.sorted()).medianNanoseconds.flatMap { $0 > 0 ? $0 : nil }
    let step = TimeSteps(known.map(\.time)).medianNanoseconds ?? own ?? 0
    let tolerance = max(min(step / 2, own ?? .max), added.tick)
    var match = Match(frames: Array(repeating: nil, count: added.items.count), way: .time)
    match.constant = 0
    var best: [Int: (item: Int, distance: Int64)] = [:]
    for (index, item) in added.items.enumerated() {
      guard let time = item.time else { continue }
      let place = known.partitioningIndex { $0.time >= time }
      func distance(_ place: Int) -> Int64 { abs(max(known[place].time - time, -.max)) }
      let near = [place - 1, place].filter(known.indices.contains)
        .min { distance($0) < distance($1) }
      guard let near, distance(near) <= tolerance, distance(near) < best[near]?.distance ?? .max
      else { continue }
      best[near] = (index, distance(near))
    }
    for (place, found) in best { match.frames[found.item] = known[place].frame }
    return match
  }
}

extension OpenFolderFrames.Match {
  init(_ match: StreamMatch) {
    self.init(frames: match.rows, way: match.way, doubt: match.doubt, constant: match.constant)
  }
}

/// Items and frames of one clock whose times do not meet.
extension OpenFolderCapture {
  /// Throws where nearly no item has a time of a frame though both are on one clock: then a unit, a column or the clock
  /// is another one than `capture.yaml` says.
  func checkClock(
    of items: OpenFolderItems, _ stream: OpenFolderStream
  ) throws(CaptureError) {
    guard let distant = frames.distant(items) else { return }
    throw stream.map.fault(
      stream.map.has("time") ? "time" : nil,
      "\(distant.paired) of \(items.items.count) times are near that of a frame: they lie at "
        + Capture.span(distant.own.lowerBound, distant.own.upperBound) + ", the frames at "
        + Capture.span(distant.frames.lowerBound, distant.frames.upperBound) + Self.timeAdvice
    )
  }

  /// Throws where items that come at a rate of their own, and the frames, lie apart though both are on one clock.
  func checkMeeting(
    of items: OpenFolderItems, _ stream: OpenFolderStream
  ) throws(CaptureError) {
    let (own, known) = (items.times, frames.shared.times)
    guard let first = own.min(), let last = own.max(), let start = known.min(),
      let end = known.max(), Capture.areApart(first...last, start...end)
    else { return }
    throw stream.map.fault(
      "time",
      "none of \(own.count) times is near that of a frame: they lie at \(Capture.span(first, last)), the frames at "
        + Capture.span(start, end) + Self.timeAdvice)
  }

  private static let timeAdvice =
    "; check `column` and `unit` of both, and name another clock with `clock` or add an `offset`"
}

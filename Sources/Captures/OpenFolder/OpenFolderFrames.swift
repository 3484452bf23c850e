import Core
import Media

/// What an item of a stream carries that says which frame it belongs to.
struct OpenFolderItem: Sendable {
  /// The row of the stream's table.
  var row: Int?
  /// The picture's path, as the table or the folder names it.
  var name: String?
  var number: Int?
  var time: Timestamp?
}

/// The items of a stream, in their order.
struct OpenFolderItems: Sendable {
  var items: [OpenFolderItem] = []
  /// The table whose rows the items are.
  var table: OpenFolderDescription.Table?
  var clock: String?
  /// The resolution of the times in nanoseconds.
  var tick: Int64 = 1
  /// Whether times follow from a rate, and pair nothing.
  var hasMadeUpTimes = false
  /// Whether pictures are named after their times: equal names are then equal times, and no more than that.
  var namesAreTimes = false
  var pair: OpenFolderDescription.Pair?
  /// Whether the items are the pictures of a video, whose times are all known.
  var isVideo = false

  func have(_ key: (OpenFolderItem) -> Bool) -> Bool { items.contains(where: key) }
  var haveTimes: Bool { !hasMadeUpTimes && have { $0.time != nil } }
  var haveNumbers: Bool { !items.isEmpty && items.allSatisfy { $0.number != nil } }
  var keys: StreamKeys {
    let times = items.compactMap { $0.time?.nanoseconds }
    return times.count == items.count
      ? .times(times, tickNanoseconds: tick) : StreamKeys(rows: items.map(\.time))
  }
}

/// The canonical frames: those of the first stream, and between them the pictures of other streams
/// that none of them has.
struct OpenFolderFrames {
  enum Picture { case color, depth }

  struct Match {
    /// Frame of item k; `nil` if it has none.
    var frames: [Int?]
    /// How many items belong to frames that were there before.
    var paired = 0
    /// Whether the items are the frames themselves.
    var isFirst = false
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

  var items: [OpenFolderItem] { shared.items }

  /// Gives items to frames; pictures that belong to none become frames of their own.
  mutating func add(_ added: OpenFolderItems, as picture: Picture?) -> Match {
    let isFirst = items.isEmpty
    if isFirst {
      shared = added
      shared.items = []
    }
    let match =
      isFirst
      ? Match(
        frames: Array(added.items.indices), paired: added.items.count, isFirst: true, constant: 0)
      : match(added)
    if !shared.haveTimes, added.haveTimes {
      (shared.clock, shared.hasMadeUpTimes) = (added.clock, false)
      for index in items.indices { shared.items[index].time = nil }
    }
    let isSameClock = added.clock == shared.clock
    var places: [Int] = []
    for (index, item) in added.items.enumerated() {
      var own = item
      let constant = match.constant ?? (isSameClock ? 0 : nil)
      own.time = constant.flatMap { item.time?.advanced(byNanoseconds: $0) }
      if added.table != shared.table { own.row = nil }
      let frame = match.frames[index] ?? items.count
      if frame == items.count {
        shared.items.append(own)
        color.append(nil)
        depth.append(nil)
        depthTimes.append(nil)
        if match.frames[index] == nil { places.append(frame) }
      } else {
        shared.items[frame].time = items[frame].time ?? own.time
        shared.items[frame].number = items[frame].number ?? own.number
        shared.items[frame].name = items[frame].name ?? (picture == .color ? own.name : nil)
      }
      switch picture {
      case .color: color[frame] = index
      case .depth: (depth[frame], depthTimes[frame]) = (index, own.time ?? items[frame].time)
      case nil: break
      }
    }
    guard !places.isEmpty else { return match }
    let order = order(placing: places.count)
    reorder(order)
    var frameOf = [Int](repeating: 0, count: order.count)
    for (new, old) in order.enumerated() { frameOf[old] = new }
    var moved = match
    var appended = 0
    moved.frames = match.frames.map { frame in
      if let frame { return frameOf[frame] }
      defer { appended += 1 }
      return frameOf[places[appended]]
    }
    return moved
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

  private mutating func reorder(_ order: [Int]) {
    shared.items = order.map { items[$0] }
    color = order.map { color[$0] }
    depth = order.map { depth[$0] }
    depthTimes = order.map { depthTimes[$0] }
  }

  /// The frame of each item, by what both carry.
  func match(_ added: OpenFolderItems) -> Match {
    var match = found(added)
    match.paired = match.frames.count { $0 != nil }
    let pictures = items.indices.filter { color[$0] != nil }
    let others = pictures.isEmpty ? items : pictures.map { items[$0] }
    if match.way == .time,
      let own = TimeSteps(added.items.compactMap(\.time).sorted()).rateHz,
      let rate = TimeSteps(others.compactMap(\.time).sorted()).rateHz,
      (0.8...1.25).contains(own / rate)
    {
      match.framesOfSameRate = others.count
    }
    return match
  }

  private func found(_ added: OpenFolderItems) -> Match {
    let count = added.items.count
    if added.pair == nil {
      if let table = added.table, table == shared.table {
        return byKey(added, \.row)
      }
      if added.have({ $0.name != nil }), shared.have({ $0.name != nil }),
        !(added.namesAreTimes && shared.namesAreTimes)
      {
        let byPath = byKey(added, \.name)
        guard byPath.frames.allSatisfy({ $0 == nil }) else { return byPath }
        let byName = byKey(added) { item in item.name.map { OpenFolderContent.stem($0) } }
        if byName.frames.contains(where: { $0 != nil }) { return byName }
      }
    }
    let haveTimes = added.haveTimes && shared.haveTimes
    let haveNumbers = added.haveNumbers && shared.have { $0.number != nil }
    switch added.pair ?? (haveTimes ? .time : haveNumbers ? .number : .row) {
    case .time where haveTimes && added.clock == shared.clock: return nearest(added)
    case .time where haveTimes:
      return Match(StreamMatch(added.keys, with: shared.keys, nouns: ("item", "frame")))
    case .number where haveNumbers: return byKey(added, \.number)
    case .row:
      return Match(
        StreamMatch(.rank(count), with: .rank(items.count), nouns: ("item", "frame")))
    case let way:
      var match = Match(
        StreamMatch(.rank(count), with: .rank(items.count), nouns: ("item", "frame")))
      match.doubt = "pair is \(way.rawValue), but not both have one; they are paired by order"
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

  /// On one clock, an item belongs to the nearest frame within half the usual step of the frames;
  /// each frame gets the nearest item.
  private func nearest(_ added: OpenFolderItems) -> Match {
    let known = items.indices.filter { items[$0].time != nil }.sorted {
      (items[$0].time ?? Timestamp(nanoseconds: 0), $0) < (
        items[$1].time ?? Timestamp(nanoseconds: 0), $1
      )
    }
    let times = known.compactMap { items[$0].time }
    let step =
      TimeSteps(times).medianNanoseconds
      ?? TimeSteps(added.items.compactMap(\.time)).medianNanoseconds ?? 0
    let tolerance = max(step / 2, added.tick)
    var match = Match(frames: Array(repeating: nil, count: added.items.count), way: .time)
    match.constant = 0
    var best: [Int: (item: Int, distance: Int64)] = [:]
    for (index, item) in added.items.enumerated() {
      guard let time = item.time else { continue }
      let behind = times.partition(of: time)
      let near = [behind - 1, behind].filter(times.indices.contains).min {
        abs(max(times[$0] - time, -.max)) < abs(max(times[$1] - time, -.max))
      }
      guard let near else { continue }
      let distance = abs(max(times[near] - time, -.max))
      guard distance <= tolerance, distance < best[near]?.distance ?? .max else { continue }
      best[near] = (index, distance)
    }
    for (place, found) in best { match.frames[found.item] = known[place] }
    return match
  }
}

extension OpenFolderFrames.Match {
  init(_ match: StreamMatch) {
    self.init(frames: match.rows, way: match.way, doubt: match.doubt, constant: match.constant)
  }
}

extension [Timestamp] {
  /// The number of times before `time`, in a sorted list.
  fileprivate func partition(of time: Timestamp) -> Int {
    var range = indices
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range = self[middle] < time ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }
}

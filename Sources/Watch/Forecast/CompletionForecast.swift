import Engine

/// When all that is left will be done: captures in their order, each given to the worker that is free first. Pure.
struct CompletionForecast {
  struct Item: Hashable {
    var family: String
    var bytes: Int64
    /// How long it has been at work; `nil`: it waits.
    var secondsAtWork: Double?
  }

  enum Outcome: Hashable {
    case nothingLeft
    /// Seconds from now.
    case done(inSeconds: Double, isAbout: Bool)
    case unknown(reason: String)
  }

  /// In the order in which they are started.
  var items: [Item]
  var costs: [WatchRecord.Cost]
  /// Pipeline of now, as `WatchRecord.Cost.pipeline`.
  var pipeline: String?
  /// Captures at work at a time, where that is known; else as many as before.
  var workers: Int?
  /// Whether nothing is started, and it is not known until when.
  var isHeld = false
  /// Seconds from a moment (in seconds from now) until work may be started; 0 where it may.
  var secondsUntilOpen: (Double) -> Double = { _ in 0 }

  /// Cost: proportional to the number of items and the logarithm of the number of workers.
  func outcome() -> Outcome {
    if items.isEmpty { return .nothingLeft }
    if isHeld, items.contains(where: { $0.secondsAtWork == nil }) {
      return .unknown(reason: "held")
    }
    var estimate = CostEstimate(costs, pipeline: pipeline)
    var isAbout = false
    /// When each worker is free, in seconds from now.
    var free: [Double] = []
    var waiting: [Double] = []
    for item in items {
      guard let cost = estimate.value(family: item.family, bytes: item.bytes) else {
        return .unknown(reason: "no-history")
      }
      if cost.isRough { isAbout = true }
      guard let spent = item.secondsAtWork else {
        waiting.append(cost.seconds)
        continue
      }
      // One that takes longer than expected is not done at once.
      if spent > cost.seconds { isAbout = true }
      free.append(max(cost.seconds - spent, cost.seconds * 0.1))
    }
    let workers = max(1, free.count, workers ?? Self.usual(costs))
    free += Array(repeating: 0, count: workers - free.count)
    free.sort()
    var last = free.last ?? 0
    var opensAt = secondsUntilOpen(0)
    for cost in waiting {
      var start = free.removeFirst()
      if start < opensAt {
        start = opensAt
      } else {
        // Asked again only where that may have closed: not for each of thousands.
        let wait = secondsUntilOpen(start)
        if wait > 0 { (start, opensAt) = (start + wait, start + wait) }
      }
      let end = start + cost
      last = max(last, end)
      let place = free.firstIndex { $0 > end } ?? free.count
      free.insert(end, at: place)
    }
    return .done(inSeconds: last, isAbout: isAbout)
  }

  /// The median of what was at work at a time.
  private static func usual(_ costs: [WatchRecord.Cost]) -> Int {
    let counts = costs.map(\.atOnce).sorted()
    return counts.isEmpty ? 1 : counts[counts.count / 2]
  }
}

/// When everything should be done, and whether it will be. Pure.
struct Deadline {
  var time: DailyTime
  var zone: LocalZone = .system

  /// The due time of the night that a moment lies in, in nanoseconds since 1970: the first one after the last noon.
  func due(ofNightAt now: Int64) -> Int64 {
    guard let noon = DailyTime("12:00") else { return now }
    // A day of 25 hours has one noon as well.
    var last = noon.next(afterNanoseconds: now - 26 * 3600 * 1_000_000_000, zone: zone)
    while true {
      let next = noon.next(afterNanoseconds: last, zone: zone)
      if next > now { break }
      last = next
    }
    return time.next(afterNanoseconds: min(last, now), zone: zone)
  }

  /// - Parameters:
  ///   - oldestSince: since when the capture that waits longest has been there, nanoseconds since 1970.
  ///   - doneAt: when all that is left will be done; `nil`: it cannot be told.
  func isMissed(at now: Int64, remaining: Int, oldestSince: Int64?, doneAt: Int64?) -> Bool {
    guard remaining > 0 else { return false }
    let due = due(ofNightAt: now)
    // What came after it was not meant.
    if now >= due { return oldestSince.map { $0 < due } ?? true }
    return doneAt.map { $0 > due } ?? false
  }
}

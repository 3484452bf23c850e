import Captures
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

  /// The captures in the order in which they are started.
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
      // A capture that takes longer than expected is not assumed to end at once.
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
    // Captures that arrived after the due time do not count.
    if now >= due { return oldestSince.map { $0 < due } ?? true }
    return doneAt.map { $0 > due } ?? false
  }
}

/// What captures will take, from those that were timed before. Pure.
///
/// Of captures of the same family and about the same size (half to double) the median time per byte counts; where
/// there is none of that size, that of all of the family, and where there is none of the family, that of all. Those of
/// which every stage was carried out with the same settings count before others, whose times are rough ones.
struct CostEstimate {
  private let samples: [WatchRecord.Cost]
  private let families: [String: [WatchRecord.Cost]]
  private let pipeline: String?
  /// The times of one byte by family and size.
  private var known: [String: [Int: (seconds: Double, isRough: Bool)?]] = [:]

  /// Fewer than this are no base for more than a rough time.
  private static let fewest = 3
  /// The upper quartile against the lower one.
  private static let widestSpread = 1.5

  /// - Parameter pipeline: tells stages and settings apart, as `WatchRecord.Cost.pipeline`; `nil`: not known.
  init(_ costs: [WatchRecord.Cost], pipeline: String? = nil) {
    samples = costs.filter { $0.seconds.isFinite && $0.seconds >= 0 && $0.bytes > 0 }
    families = Dictionary(grouping: samples, by: \.family)
    self.pipeline = pipeline
  }

  /// An expected time, and whether it is a rough one; `nil`: no capture was timed. Cost: that of a lookup, once per
  /// family and size a sort.
  mutating func value(family: String, bytes: Int64) -> (seconds: Double, isRough: Bool)? {
    let size = Self.sizeClass(bytes)
    let ofByte = known[family]?[size] ?? ofByte(family, size)
    known[family, default: [:]][size] = .some(ofByte)
    return ofByte.map { ($0.seconds * Double(max(1, bytes)), $0.isRough) }
  }

  /// Doubles with each step.
  private static func sizeClass(_ bytes: Int64) -> Int {
    Int64.bitWidth - max(1, bytes).leadingZeroBitCount
  }

  /// The time of one byte.
  private func ofByte(_ family: String, _ size: Int) -> (seconds: Double, isRough: Bool)? {
    let own = families[family] ?? []
    let like = own.isEmpty ? samples : own
    guard !like.isEmpty else { return nil }
    let fitting = like.filter(isFitting)
    let all = fitting.isEmpty ? like : fitting
    let near = all.filter { abs(Self.sizeClass($0.bytes) - size) <= 1 }
    let rates = (near.isEmpty ? all : near).map { $0.seconds / Double($0.bytes) }.sorted()
    let (low, high) = (rates[rates.count / 4], rates[rates.count * 3 / 4])
    let isRough =
      own.isEmpty || near.isEmpty || rates.count < Self.fewest || high > low * Self.widestSpread
      || fitting.isEmpty && pipeline != nil
    return (rates[rates.count / 2], isRough)
  }

  /// Whether every stage was carried out, with the settings of now.
  private func isFitting(_ cost: WatchRecord.Cost) -> Bool {
    cost.written != nil && (pipeline == nil || cost.pipeline == pipeline)
  }
}

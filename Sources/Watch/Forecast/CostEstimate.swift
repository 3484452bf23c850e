import Engine

/// What captures will take, from those that were timed before. Pure.
///
/// Of captures of the same family and about the same size (half to double) the median time per byte counts; where
/// there is none of that size, that of all of the family, and where there is none of the family, that of all. Those of
/// which every stage was carried out with the same settings count before others, whose times are rough ones.
struct CostEstimate {
  /// An expected time, and whether it is a rough one.
  struct Value: Hashable {
    var seconds: Double
    var isRough: Bool
  }

  private let samples: [WatchRecord.Cost]
  private let families: [String: [WatchRecord.Cost]]
  private let pipeline: String?
  private var known: [Key: (secondsPerByte: Double, isRough: Bool)?] = [:]

  private struct Key: Hashable {
    var family: String
    var size: Int
  }

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

  /// `nil`: no capture was timed. Cost: that of a lookup, once per family and size a sort.
  mutating func value(family: String, bytes: Int64) -> Value? {
    let key = Key(family: family, size: Self.sizeClass(bytes))
    let rate: (secondsPerByte: Double, isRough: Bool)?
    if let found = known[key] {
      rate = found
    } else {
      rate = self.rate(key)
      known[key] = .some(rate)
    }
    return rate.map {
      Value(seconds: $0.secondsPerByte * Double(max(1, bytes)), isRough: $0.isRough)
    }
  }

  /// Doubles with each step.
  private static func sizeClass(_ bytes: Int64) -> Int {
    Int64.bitWidth - max(1, bytes).leadingZeroBitCount
  }

  private func rate(_ key: Key) -> (secondsPerByte: Double, isRough: Bool)? {
    let own = families[key.family] ?? []
    let like = own.isEmpty ? samples : own
    guard !like.isEmpty else { return nil }
    let fitting = like.filter(isFitting)
    let all = fitting.isEmpty ? like : fitting
    let near = all.filter { abs(Self.sizeClass($0.bytes) - key.size) <= 1 }
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

import Output

/// What captures will take, from those that were timed before. Pure.
///
/// Of captures of the same family and about the same size (half to double) the median time per byte counts; where
/// there is none of that size, that of all of the family.
struct CostEstimate {
  /// An expected time, and whether it is a rough one.
  struct Value: Hashable {
    var seconds: Double
    var isRough: Bool
  }

  private let samples: [String: [WatchRecord.Cost]]
  private var known: [Key: (secondsPerByte: Double, isRough: Bool)?] = [:]

  private struct Key: Hashable {
    var family: String
    var size: Int
  }

  /// Fewer than this are no base for more than a rough time.
  private static let fewest = 3
  /// The upper quartile against the lower one.
  private static let widestSpread = 1.5

  init(_ costs: [WatchRecord.Cost]) {
    samples = Dictionary(
      grouping: costs.filter { $0.seconds.isFinite && $0.seconds >= 0 && $0.bytes > 0 },
      by: \.family)
  }

  /// `nil`: no capture of the family was timed. Cost: that of a lookup, once per family and size a sort.
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
    guard let all = samples[key.family], !all.isEmpty else { return nil }
    let near = all.filter { abs(Self.sizeClass($0.bytes) - key.size) <= 1 }
    let rates = (near.isEmpty ? all : near).map { $0.seconds / Double($0.bytes) }.sorted()
    let (low, high) = (rates[rates.count / 4], rates[rates.count * 3 / 4])
    let isRough =
      near.isEmpty || rates.count < Self.fewest || high > low * Self.widestSpread
    return (rates[rates.count / 2], isRough)
  }
}

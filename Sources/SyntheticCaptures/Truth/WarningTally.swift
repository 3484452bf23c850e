/// Sums the warnings that a reader must report.
struct WarningTally {
  private var counts: [String: Int] = [:]

  /// A count of 0 adds no entry.
  mutating func add(_ code: String, _ count: Int = 1) {
    if count > 0 { counts[code, default: 0] += count }
  }

  var entries: [ExpectedWarning] {
    counts.sorted { $0.key < $1.key }.map { ExpectedWarning(code: $0.key, count: $0.value) }
  }

  var json: JSONTree {
    .array(entries.map { ["code": .text($0.code), "count": JSONTree($0.count)] })
  }
}

/// Counts steps of a series of times as the format pages define them.
struct TimeStepCount {
  /// Above `factor` times the median step.
  private(set) var gaps = 0
  private(set) var repeated = 0
  private(set) var backward = 0

  /// Steps are those between neighbors that both have a time.
  init(_ times: [Int64?], gapFactor: Double) {
    let steps = zip(times.dropFirst(), times).compactMap { later, earlier -> Int64? in
      guard let later, let earlier else { return nil }
      return later - earlier
    }
    guard !steps.isEmpty else { return }
    let sorted = steps.sorted()
    let middle = Double(sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    gaps = steps.count { Double($0) > gapFactor * middle }
    repeated = steps.count { $0 == 0 }
    backward = steps.count { $0 < 0 }
  }
}

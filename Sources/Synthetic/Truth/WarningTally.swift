/// Sums the warnings that a reader must report.
struct WarningTally {
  private struct Key: Hashable {
    var code: String
    var subject: String?
  }

  private var counts: [Key: Int] = [:]

  /// A count of 0 adds no entry. Without a subject, the code counts for all subjects together.
  mutating func add(_ code: String, of subject: String? = nil, _ count: Int = 1) {
    if count > 0 { counts[Key(code: code, subject: subject), default: 0] += count }
  }

  /// Sums by code.
  var entries: [ExpectedWarning] {
    var sums: [String: Int] = [:]
    for (key, count) in counts { sums[key.code, default: 0] += count }
    return sums.sorted { $0.key < $1.key }.map { ExpectedWarning(code: $0.key, count: $0.value) }
  }

  /// By code and subject.
  var json: JSONTree {
    let sorted = counts.sorted {
      ($0.key.code, $0.key.subject ?? "") < ($1.key.code, $1.key.subject ?? "")
    }
    return .array(
      sorted.map { key, count in
        var members: [String: JSONTree] = ["code": .text(key.code), "count": JSONTree(count)]
        if let subject = key.subject { members["subject"] = .text(subject) }
        return .object(members)
      })
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

import Core

/// Sums the warnings that a reader must report.
struct WarningTally {
  private struct Key: Hashable {
    var code: String
    var subject: String?
  }

  /// Whether the subjects of warnings are stated; otherwise a code counts for all of them together.
  let namesSubjects: Bool
  private var counts: [Key: Int] = [:]

  init(namesSubjects: Bool = true) { self.namesSubjects = namesSubjects }

  /// A count of 0 adds no entry.
  mutating func add(_ code: String, of subject: String? = nil, _ count: Int = 1) {
    guard count > 0 else { return }
    counts[Key(code: code, subject: namesSubjects ? subject : nil), default: 0] += count
  }

  /// Adds one if it is there.
  mutating func add(_ code: String, of subject: String? = nil, _ isThere: Bool) {
    add(code, of: subject, isThere ? 1 : 0)
  }

  /// Adds the steps between neighboring frames that both have a time.
  mutating func addSteps(_ times: [Int64?], gapFactor: Double = 1.5) {
    let steps = TimeStepCount(times, gapFactor: gapFactor)
    add("frame-gap", of: "frames", steps.gaps)
    add("timestamps-duplicate", of: "frames", steps.repeated)
    add("timestamps-unordered", of: "frames", steps.backward)
  }

  /// Adds the items that each stream has more or fewer than expected; `nil` for a stream that is not counted.
  mutating func addLengths(_ streams: [(name: String, count: Int?)], expected: Int) {
    for (name, count) in streams {
      if let count { add("frame-count-mismatch", of: name, abs(count - expected)) }
    }
  }

  /// Adds the difference of both streams; none where one is not counted.
  mutating func addDifference(color: Int?, depth: Int?) {
    guard let color, let depth else { return }
    add("color-shorter-than-depth", of: "color", depth - color)
    add("depth-shorter-than-color", of: "depth", color - depth)
  }

  /// Sums by code.
  var entries: [ExpectedWarning] {
    var sums: [String: Int] = [:]
    for (key, count) in counts { sums[key.code, default: 0] += count }
    return sums.sorted { $0.key < $1.key }.map { ExpectedWarning(code: $0.key, count: $0.value) }
  }

  /// By code and subject.
  var json: [JSONObject] {
    let sorted = counts.sorted {
      ($0.key.code, $0.key.subject ?? "") < ($1.key.code, $1.key.subject ?? "")
    }
    return sorted.map { key, count in
      var members: JSONObject = ["code": key.code, "count": count]
      if let subject = key.subject { members["subject"] = subject }
      return members
    }
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

/// The times that a reader must find, and what it must warn of, computed from a plan by the rules of the format.
struct Expectation {
  /// Times of the canonical frames; `nil` = empty cell.
  var frames: [Int64?] = []
  var color: [Int64?] = []
  var depth: [Int64?] = []
  var warnings = WarningTally()

  mutating func add(_ time: Int64?, hasColor: Bool, hasDepth: Bool) {
    frames.append(time)
    color.append(hasColor ? time : nil)
    depth.append(hasDepth ? time : nil)
  }

  var times: JSONObject { ["frame": frames, "color": color, "depth": depth] }
}

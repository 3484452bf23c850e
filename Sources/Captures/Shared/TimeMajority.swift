import Core

/// Finds the time that more than half of a series share, if any (Boyer and Moore's vote), without
/// storing all values.
struct TimeMajority {
  private(set) var candidate: Timestamp?
  private var lead = 0

  mutating func add(_ time: Timestamp) {
    if lead == 0 { candidate = time }
    lead += candidate == time ? 1 : -1
  }

  /// The time that more than half of `times`, and at least two of them, have: their clock did not
  /// advance. `nil` for times that can be used.
  static func stale(_ times: [Timestamp]) -> (time: Timestamp, count: Int)? {
    var majority = TimeMajority()
    for time in times { majority.add(time) }
    guard let candidate = majority.candidate else { return nil }
    let same = times.count { $0 == candidate }
    return same > 1 && same > times.count / 2 ? (candidate, same) : nil
  }
}

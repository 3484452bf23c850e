import Geometry

/// Steps of one series of times in file order: small ones back are disorder, large ones a clock that
/// jumped.
struct VISLAMTimeOrder {
  /// A step back above this is no swap of neighbors.
  private static let largestDisorderNanoseconds: Int64 = 1_000_000_000
  /// A step forward above this is no pause.
  private static let largestPauseNanoseconds: Int64 = 60_000_000_000

  private(set) var unordered = 0
  private(set) var jumps = 0
  private var count = 0
  private var last: Timestamp?

  mutating func add(_ time: Timestamp) {
    count += 1
    defer { last = time }
    guard let last else { return }
    let step = time - last
    if step < -Self.largestDisorderNanoseconds || step > Self.largestPauseNanoseconds {
      jumps += 1
    } else if step < 0 {
      unordered += 1
    }
  }

  func report(to warnings: WarningCollector, subject: String) {
    warnings.add(
      .timestampsUnordered, subject, count: unordered, of: .size(count),
      "rows of \(subject) go back in time; they were sorted")
    warnings.add(
      .clockJump, subject, count: jumps,
      "the clock of \(subject) steps back by more than 1 s or ahead by more than 60 s")
  }
}

/// The value that more than half of a series share, if there is one (Boyer and Moore's vote), found
/// without a table of all values.
struct VISLAMMajority {
  private(set) var candidate: Timestamp?
  private var lead = 0

  mutating func add(_ time: Timestamp) {
    if lead == 0 { candidate = time }
    lead += candidate == time ? 1 : -1
  }
}

import Core

/// Counts backward steps in a series of times in file order: small ones are disorder, large ones
/// are jumps of the clock.
struct TimeOrder {
  /// Largest backward step that is a swap of neighbors.
  private static let largestDisorderNanoseconds: Int64 = 1_000_000_000
  /// Largest forward step that is a pause.
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

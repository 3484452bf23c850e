import Core

/// The plausible times of a file. A time that is far from all others belongs to a damaged record:
/// it must not get a row or shift other rows.
///
/// The rule is the contract's (section 4): more than one hour from the median of the file is
/// implausible. Times that are connected to the median by steps of at most a minute are kept,
/// however long the recording.
public struct TimeBounds: Hashable, Sendable {
  private static let farNanoseconds: Int64 = 3_600_000_000_000
  /// The longest pause after which a recording continues.
  private static let longestPauseNanoseconds: Int64 = 60_000_000_000

  /// `nil` if all times are plausible.
  private let range: ClosedRange<Timestamp>?

  /// From the times of a file in any order. Cost: one sort.
  init(_ times: some Sequence<Timestamp>) {
    let sorted = times.sorted()
    guard !sorted.isEmpty else {
      range = nil
      return
    }
    let middle = (sorted.count - 1) / 2
    func reach(_ indices: some Sequence<Int>) -> Timestamp {
      var last = sorted[middle]
      for index in indices {
        let step = sorted[index] > last ? sorted[index] - last : last - sorted[index]
        if step > Self.longestPauseNanoseconds { break }
        last = sorted[index]
      }
      return last
    }
    let first = reach((0..<middle).reversed())
    let last = reach(middle + 1..<sorted.count)
    range =
      min(
        first, sorted[middle].advanced(byNanoseconds: -Self.farNanoseconds))...max(
        last, sorted[middle].advanced(byNanoseconds: Self.farNanoseconds))
  }

  public func contains(_ time: Timestamp) -> Bool { range?.contains(time) ?? true }
}

import Geometry

/// Which times of a file can be true: one that lies far from all others belongs to a damaged record, and
/// must neither get a row nor move the others.
///
/// The rule is the contract's (section 4): more than one hour from the median of the file. Times that
/// are reached from the median in steps of at most a minute are kept however long the recording was.
public struct TimeBounds: Hashable, Sendable {
  private static let farNanoseconds: Int64 = 3_600_000_000_000
  /// No recording pauses for longer and goes on on its own.
  private static let longestPauseNanoseconds: Int64 = 60_000_000_000

  /// `nil` = any time.
  private let range: ClosedRange<Timestamp>?

  /// From the times of a file in any order. Cost: one sort.
  public init(_ times: some Sequence<Timestamp>) {
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

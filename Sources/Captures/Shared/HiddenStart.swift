import Media
import Core

/// The row of a side file that belongs to the first displayed picture of a movie whose edit list
/// hides earlier pictures, as when a movie is trimmed without re-encoding: the side file has rows
/// for the hidden pictures.
struct HiddenStart: Equatable {
  /// The row of the first displayed picture.
  private(set) var firstRow = 0
  /// What is uncertain, for a message; `nil` if nothing is hidden, or if list and rows agree.
  private(set) var doubt: String?

  /// - Parameters:
  ///   - pictures: number of displayed pictures.
  ///   - times: times of the rows, in order; `nil` for a row without a time.
  init(_ hidden: HiddenPictures, pictures: Int, times: [Timestamp?]) {
    let rows = times.count
    guard hidden.before > 0, pictures > 0, rows > 0, rows != pictures else { return }
    let behind = rows - pictures - hidden.before
    if behind == 0 || behind == hidden.after {
      firstRow = hidden.before
      return
    }
    let what =
      "the movie's edit list hides its first \(hidden.before) pictures "
      + "(\(Self.milliseconds(hidden.nanoseconds)) ms), and \(rows) rows do not tell whether the hidden "
      + "pictures have rows: "
    if behind > 0, Self.agrees(hidden, times) {
      firstRow = hidden.before
      let most = Self.span(times, from: hidden.before, rows: behind)
      doubt =
        what + "the first picture is paired with row \(firstRow), which may be off by "
        + (most.map { "up to \(Self.milliseconds($0)) ms" } ?? "up to \(behind) rows")
    } else {
      doubt =
        what + "the first picture is paired with row 0, which may be off by "
        + "\(Self.milliseconds(hidden.nanoseconds)) ms"
    }
  }

  /// Whether the hidden rows last as long as the hidden pictures, within half a row; true if their
  /// times are not known.
  private static func agrees(_ hidden: HiddenPictures, _ times: [Timestamp?]) -> Bool {
    guard let span = span(times, from: 0, rows: hidden.before),
      let step = TimeSteps(ofNeighbors: times).medianNanoseconds
    else { return true }
    return abs(Double(span) - Double(hidden.nanoseconds)) <= Double(step) / 2
  }

  private static func span(_ times: [Timestamp?], from first: Int, rows: Int) -> Int64? {
    guard first + rows < times.count || first + rows == times.count, first < times.count,
      let start = times[first], let end = times[min(first + rows, times.count - 1)]
    else { return nil }
    return end - start
  }

  /// Milliseconds, rounded to nearest.
  static func milliseconds(_ nanoseconds: Int64) -> Int64 {
    (nanoseconds.magnitude > UInt64(Int64.max - 500_000) ? nanoseconds : nanoseconds + 500_000)
      / 1_000_000
  }
}

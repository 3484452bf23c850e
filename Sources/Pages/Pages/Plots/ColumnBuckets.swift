/// Reduces a series of any length to a fixed number of columns, with the lowest and the highest
/// value of each, so that no spike is lost.
///
/// Memory: the columns. Values may come in any order; those outside the range count for the first
/// or last column.
struct ColumnBuckets {
  struct Column: Hashable {
    var low: Double
    var high: Double
    var count: Int
    /// Whether there is a gap between the previous non-empty column and this one.
    var isAfterGap: Bool
  }

  let range: ClosedRange<Double>
  private(set) var columns: [Column?]
  /// Extremes over all values.
  private(set) var low = Double.infinity
  private(set) var high = -Double.infinity
  private(set) var count = 0

  init(range: ClosedRange<Double>, columns: Int = 600) {
    self.range = range
    self.columns = Array(repeating: nil, count: max(1, columns))
  }

  /// Values that are not finite are left out.
  mutating func add(at place: Double, _ value: Double, isAfterGap: Bool = false) {
    guard value.isFinite, let column = column(of: place) else { return }
    low = min(low, value)
    high = max(high, value)
    count += 1
    if var known = columns[column] {
      known.low = min(known.low, value)
      known.high = max(known.high, value)
      known.count += 1
      columns[column] = known
    } else {
      columns[column] = Column(low: value, high: value, count: 1, isAfterGap: isAfterGap)
    }
  }

  /// The column at a position; `nil` if it is not a number.
  func column(of place: Double) -> Int? {
    guard !place.isNaN else { return nil }
    let span = range.upperBound - range.lowerBound
    guard span > 0, span.isFinite else { return 0 }
    let share = (place - range.lowerBound) / span * Double(columns.count)
    return Int(min(max(share, 0), Double(columns.count - 1)))
  }

  /// The range of all values; `nil` without any.
  var values: ClosedRange<Double>? { low <= high ? low...high : nil }

  /// The lowest and highest value in `parts` equal parts of the range, for tables.
  func reduced(to parts: Int) -> [(range: ClosedRange<Double>, values: ClosedRange<Double>?)] {
    let parts = min(max(1, parts), columns.count)
    let span = range.upperBound - range.lowerBound
    return (0..<parts).map { part in
      let (first, end) = (part * columns.count / parts, (part + 1) * columns.count / parts)
      let filled = columns[first..<end].compactMap(\.self)
      let found = filled.map(\.low).min().map { $0...(filled.map(\.high).max() ?? $0) }
      let width = span / Double(columns.count)
      let from = range.lowerBound + Double(first) * width
      return (from...max(from, range.lowerBound + Double(end) * width), found)
    }
  }
}

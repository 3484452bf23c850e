import Engine

/// The quality of every frame: `quality/quality.csv`, read twice, in memory proportional to the columns of a plot.
struct QualitySeries: Sendable {
  struct Lane: Sendable {
    /// The column of the table.
    var column: String
    /// The name in the plot, with its unit.
    var name: String
    /// Shares, of which the whole range is shown.
    var isShare: Bool
    var buckets: ColumnBuckets
  }

  private static let columns = 600
  /// What is drawn, as far as the table has values of it.
  private static let drawn: [(column: String, name: String, isShare: Bool)] = [
    ("sharpness", "sharpness", false), ("blur_sigma_px", "blur, px of 1,920", false),
    ("blur_px", "blur by motion, px", false), ("bright_share", "too bright", true),
    ("dark_share", "too dark", true), ("depth_share", "depth measured", true),
    ("depth_difference_median_permille", "depth differs, ‰", false),
  ]

  private(set) var lanes: [Lane] = []
  private(set) var frames = 0
  private(set) var problems: [String] = []

  /// `nil` without a table.
  init?(_ table: PublishedTable?) {
    guard let table else { return nil }
    let names = ["frame"] + Self.drawn.map(\.column)
    var last = 0
    _ = table.read(columns: ["frame"]) { row in
      frames += 1
      last = max(last, Self.frame(row, frames - 1))
    }
    // At most one column per frame, so that bars are adjacent.
    let range = 0...Double(last + 1)
    let count = min(Self.columns, last + 1)
    var buckets = Self.drawn.map { _ in ColumnBuckets(range: range, columns: count) }
    var number = 0
    problems = table.read(columns: names) { row in
      let frame = Double(Self.frame(row, number))
      number += 1
      for index in buckets.indices {
        if let value = row.number(index + 1) { buckets[index].add(at: frame, value) }
      }
    }
    lanes = zip(Self.drawn, buckets).compactMap { drawn, buckets in
      buckets.count == 0
        ? nil
        : Lane(column: drawn.column, name: drawn.name, isShare: drawn.isShare, buckets: buckets)
    }
  }

  /// The number of a row where it does not say its frame. Frames beyond ten million are not placed.
  private static func frame(_ row: borrowing PublishedTable.Row, _ number: Int) -> Int {
    min(max(row.nanoseconds(0).flatMap { Int(exactly: $0) } ?? number, 0), 10_000_000)
  }
}

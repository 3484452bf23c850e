import Core

/// Time spans in rows, such as the stages of a capture. Pauses longer than a minute are cut out and
/// marked, so that work on different days remains readable.
struct SpanPlot {
  struct Row: Hashable {
    var label: String
    /// Seconds on a common clock.
    var from: Double
    var to: Double
    var words: String
    var isFailed = false
  }

  var rows: [Row]
  var name: String

  private static let rowHeight = 26
  private static let longestPause = 60.0

  /// The positions of the rows with long pauses cut out, the positions of the cuts, and the total
  /// length.
  func laidOut() -> (spans: [(from: Double, to: Double)], cuts: [Double], length: Double) {
    let order = rows.indices.sorted { rows[$0].from < rows[$1].from }
    var spans = [(from: Double, to: Double)](repeating: (0, 0), count: rows.count)
    var cuts: [Double] = []
    var (shift, busyUntil) = (0.0, -Double.infinity)
    for index in order {
      let row = rows[index]
      if busyUntil == -.infinity {
        shift = row.from
      } else if row.from - busyUntil > Self.longestPause {
        // A pause is drawn with half the height of a row.
        let end = busyUntil - shift
        cuts.append(end)
        shift = row.from - end
      }
      busyUntil = max(busyUntil, row.to)
      spans[index] = (row.from - shift, max(row.from, row.to) - shift)
    }
    let length = spans.map(\.to).max() ?? 0
    return (spans, cuts, length > 0 ? length : 1)
  }

  func markup() -> Markup {
    let (spans, cuts, length) = laidOut()
    let bottom = rows.count * Self.rowHeight
    let range = 0...length
    let ticks = NiceTicks(range, most: 5)
    return Tag.svg(
      Attribute("class", "plot spans"), Attribute("role", "img"), .label(name),
      Attribute("width", "100%"), Attribute("height", bottom + 34)
    ) {
      Tag.title { name }
      ticks.grid(in: range, bottom: bottom)
      PlotPath.across("axis", y: bottom)
      for cut in cuts {
        let place = StripPlot.percent(cut, in: range)
        Tag.line(
          .classes("cut"), Attribute("x1", place), Attribute("x2", place),
          Attribute("y1", 0), Attribute("y2", bottom)
        ) { Tag.title { "a pause is cut out here" } }
      }
      for (index, row) in rows.enumerated() {
        let (from, to) = spans[index]
        let top = index * Self.rowHeight
        let left = StripPlot.percent(from, in: range)
        Tag.g(Attribute("class", row.isFailed ? "span failed" : "span")) {
          Tag.title { row.words }
          Tag.rect(
            Attribute("x", left), Attribute("y", top + 5),
            Attribute("width", StripPlot.percent(to - from, in: range)),
            Attribute("height", Self.rowHeight - 10))
          PlotPath.upright(x: left, from: top + 5, to: top + Self.rowHeight - 5)
        }
        PlotPath.text("tick-y", x: "-6", y: top + 17, row.label)
      }
      PlotPath.text(
        "axis-name", x: "100%", y: bottom + 31, "seconds since the first of them began")
    }
  }
}

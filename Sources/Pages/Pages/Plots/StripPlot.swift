import Core

/// Lanes over a common horizontal axis, as wide as the page. Positions are percentages of the width
/// and only the data is stretched, so that text keeps its size on a phone.
struct StripPlot {
  struct Lane {
    /// The name in the lane: `x`, `depth`.
    var name: String
    var buckets: ColumnBuckets
    /// The displayed range of values.
    var values: ClosedRange<Double>
    /// Height in pixels.
    var height = 64
    /// Whether the area below is filled, for shares and counts.
    var isFilled = false
    var isLine = true
  }

  /// A shaded part of the axis with its label.
  struct Band: Hashable {
    enum Kind { case gap, motionGap }
    var from: Double
    var to: Double
    var kind = Kind.gap
    var words: String
  }

  var lanes: [Lane]
  var range: ClosedRange<Double>
  var axis: String
  var bands: [Band] = []
  /// Columns of the axis that are marked, for example those with frames.
  var marks: [Bool] = []
  /// A description in figures.
  var name: String

  private static let axisHeight = 34
  private static let marksHeight = 10
  private static let laneGap = 14
  /// Units of y in a lane.
  private static let units = 400

  private var height: Int {
    lanes.reduce(0) { $0 + $1.height } + Self.laneGap * max(0, lanes.count - 1) + 2
      + (marks.isEmpty ? 0 : Self.marksHeight + 4) + Self.axisHeight
  }

  func markup() -> Markup {
    let bottom = height - Self.axisHeight
    return Tag.svg(
      Attribute("class", "plot"), Attribute("role", "img"), .label(name),
      Attribute("width", "100%"), Attribute("height", height)
    ) {
      Tag.title { name }
      grid(bottom: bottom)
      for band in bands { Self.band(band, in: range, height: bottom) }
      laneMarkup()
      if !marks.isEmpty {
        Tag.svg(
          Attribute("y", bottom - Self.marksHeight), Attribute("width", "100%"),
          Attribute("height", Self.marksHeight), Attribute("viewBox", "0 0 \(marks.count) 1"),
          Attribute("preserveAspectRatio", "none")
        ) {
          Tag.path(.classes("marks"), Attribute("d", PlotPath.marks(marks)))
        }
      }
    }
  }

  @MarkupBuilder private func laneMarkup() -> Markup {
    for (lane, top) in placed() {
      let ticks = NiceTicks(lane.values, most: max(2, lane.height / 24))
      for value in ticks.values {
        let share = PlotPath.place(
          value, from: lane.values.lowerBound, to: lane.values.upperBound, over: 1000)
        let y = top + lane.height - lane.height * share / 1000
        PlotPath.across("grid", y: y)
        PlotPath.text("tick-y", x: "-6", y: y + 4, ticks.text(value))
      }
      let path = PlotPath.minMax(lane.buckets, values: lane.values, units: Self.units)
      Tag.svg(
        Attribute("y", top), Attribute("width", "100%"), Attribute("height", lane.height),
        Attribute("viewBox", "0 0 \(lane.buckets.columns.count) \(Self.units)"),
        Attribute("preserveAspectRatio", "none")
      ) {
        if lane.isFilled {
          Tag.path(.classes("fill"), Attribute("d", filled(lane)))
        }
        if lane.isLine { Tag.path(.classes("data"), Attribute("d", path)) }
      }
      if !lane.name.isEmpty {
        PlotPath.text("lane", x: "4", y: top + 13, lane.name)
      }
    }
  }

  /// A histogram with bars of equal width.
  ///
  /// - Parameter bins: counts of equal parts of the range.
  static func histogram(
    range: ClosedRange<Double>, bins: [Int], axis: String, name: String
  ) -> Markup {
    let total = bins.reduce(0) { $0.addingReportingOverflow($1).partialValue }
    var buckets = ColumnBuckets(range: range, columns: max(1, bins.count))
    let width = (range.upperBound - range.lowerBound) / Double(max(1, bins.count))
    for (index, count) in bins.enumerated() where count > 0 {
      buckets.add(
        at: range.lowerBound + (Double(index) + 0.5) * width,
        Double(count) / Double(max(1, total)) * 100)
    }
    let most = NiceTicks.around(0...max(buckets.values?.upperBound ?? 1, 1e-3))
    return StripPlot(
      lanes: [
        StripPlot.Lane(
          name: "% of the pixels", buckets: buckets, values: 0...most.upperBound, height: 150,
          isFilled: true, isLine: false)
      ], range: range, axis: axis, name: name
    ).markup()
  }

  private func placed() -> [(Lane, Int)] {
    var top = 0
    return lanes.map { lane in
      defer { top += lane.height + Self.laneGap }
      return (lane, top)
    }
  }

  /// Bars from the bottom up to the highest value of each column.
  private func filled(_ lane: Lane) -> String {
    var path = ""
    for (x, column) in lane.buckets.columns.enumerated() {
      guard let column else { continue }
      let height = PlotPath.place(
        column.high, from: lane.values.lowerBound, to: lane.values.upperBound, over: Self.units)
      if height > 0 { path += "M\(x),\(Self.units)h1v-\(height)h-1z" }
    }
    return path
  }

  @MarkupBuilder private func grid(bottom: Int) -> Markup {
    let ticks = NiceTicks(range, most: 5)
    PlotPath.across("axis", y: bottom)
    ticks.grid(in: range, bottom: bottom)
    PlotPath.text("axis-name", x: "100%", y: bottom + 31, axis)
  }

  static func band(_ band: Band, in range: ClosedRange<Double>, height: Int) -> Markup {
    let (from, to) = (share(band.from, in: range), share(band.to, in: range))
    return Tag.g(
      Attribute("class", band.kind == .gap ? "gap" : "motion-gap"),
      Attribute("data-from", FigureText.fixed(band.from, 3)),
      Attribute("data-to", FigureText.fixed(band.to, 3))
    ) {
      Tag.title { band.words }
      Tag.rect(
        Attribute("x", text(from)), Attribute("y", 0),
        Attribute("width", text(max(0, to - from))), Attribute("height", height))
      // Even the shortest band is visible.
      PlotPath.upright(x: text(from), from: 0, to: height)
    }
  }

  /// The fraction, clamped to 0 … 1.
  private static func share(_ value: Double, in range: ClosedRange<Double>) -> Double {
    let span = range.upperBound - range.lowerBound
    guard value.isFinite, span > 0, span.isFinite else { return 0 }
    return min(max((value - range.lowerBound) / span, 0), 1)
  }

  static func percent(_ value: Double, in range: ClosedRange<Double>) -> String {
    text(share(value, in: range))
  }

  private static func text(_ share: Double) -> String {
    "\((share * 100_000).rounded() / 1000)%"
  }
}

/// Builds lines and texts of drawings, and the `d` attribute of paths, whose coordinates are whole numbers.
enum PlotPath {
  /// A line over the whole width.
  static func across(_ kind: StaticString, y: Int) -> Markup {
    Tag.line(
      .classes(kind), Attribute("x1", 0), Attribute("x2", "100%"), Attribute("y1", y),
      Attribute("y2", y))
  }

  static func upright(
    _ kind: StaticString? = nil, x: String, from top: Int, to bottom: Int
  ) -> Markup {
    Tag.line(
      (kind.map { [.classes($0)] } ?? []) + [
        Attribute("x1", x), Attribute("x2", x), Attribute("y1", top), Attribute("y2", bottom),
      ])
  }

  static func text(_ kind: StaticString, x: String, y: Int, _ words: String) -> Markup {
    Tag.text(.classes(kind), Attribute("x", x), Attribute("y", y)) { words }
  }

  /// The coordinate of a value, clamped to the drawing.
  static func place(_ value: Double, from low: Double, to high: Double, over units: Int) -> Int {
    guard value.isFinite, high > low, (high - low).isFinite else { return units / 2 }
    let share = (value - low) / (high - low)
    return Int((min(max(share, 0), 1) * Double(units)).rounded())
  }

  /// A path through the lowest and the highest value of each column, interrupted at gaps. One unit
  /// of x per column, `units` of y for `values`, with the highest at the top.
  static func minMax(_ buckets: ColumnBuckets, values: ClosedRange<Double>, units: Int) -> String {
    func y(_ value: Double) -> Int {
      units - place(value, from: values.lowerBound, to: values.upperBound, over: units)
    }
    var path = ""
    var last: Int?
    for (x, column) in buckets.columns.enumerated() {
      guard let column else { continue }
      let (low, high) = (y(column.low), y(column.high))
      if let before = last, !column.isAfterGap {
        let near = abs(before - low) <= abs(before - high) ? low : high
        path += "L\(x),\(near)"
        if low != high { path += "V\(near == low ? high : low)" }
        last = near == low ? high : low
      } else {
        // A segment of length zero is displayed as a dot.
        path += "M\(x),\(low)" + (low == high ? "h0" : "V\(high)")
        last = high
      }
    }
    return path
  }

  /// Short strokes from the top at the marked columns if there are few; else bars over runs of
  /// columns.
  static func marks(_ columns: [Bool]) -> String {
    var path = ""
    var start: Int?
    for x in 0...columns.count {
      let isSet = x < columns.count && columns[x]
      if isSet, start == nil { start = x }
      if !isSet, let from = start {
        path += x - from == 1 ? "M\(from),0v1" : "M\(from),0h\(x - 1 - from)v1h\(from - x + 1)z"
        start = nil
      }
    }
    return path
  }
}

extension NiceTicks {
  /// Lines and numbers of a horizontal axis at `bottom`.
  @MarkupBuilder func grid(in range: ClosedRange<Double>, bottom: Int) -> Markup {
    for value in values {
      let place = StripPlot.percent(value, in: range)
      PlotPath.upright("grid", x: place, from: 0, to: bottom + 4)
      PlotPath.text("tick-x", x: place, y: bottom + 16, text(value))
    }
  }
}

/// Tick positions at round numbers: steps of 1, 2 or 5 times a power of ten.
struct NiceTicks: Hashable {
  /// Ascending, inside the range; empty for an empty range.
  let values: [Double]
  /// Number of decimals that distinguish them.
  let decimals: Int

  /// At most about `most` ticks, and at least two if doubles can tell them apart: a single tick would
  /// not show the scale. For that the step becomes smaller, and the ticks more than `most`.
  init(_ range: ClosedRange<Double>, most: Int) {
    let span = range.upperBound - range.lowerBound
    guard span > 0, span.isFinite, most > 0 else {
      values = []
      decimals = 0
      return
    }
    let least = span / Double(most)
    var power = 1.0
    var places = 0
    while power > least, places < 300 {
      power /= 10
      places += 1
    }
    while power * 10 <= least, places > -300 {
      power *= 10
      places -= 1
    }
    // Now power ≤ least < 10 · power.
    let steps: [(factor: Double, places: Int)] = [
      (10, places - 1), (5, places), (2, places), (1, places), (0.5, places + 1),
      (0.2, places + 1),
    ]
    let start = steps.lastIndex { power * $0.factor >= least } ?? 0
    var chosen = steps[start]
    var values = Self.multiples(of: power * chosen.factor, in: range, most: most)
    for smaller in steps[(start + 1)...] where values.count < 2 {
      chosen = smaller
      values = Self.multiples(of: power * chosen.factor, in: range, most: most)
    }
    self.values = values
    decimals = min(max(chosen.places, 0), 9)
  }

  private static func multiples(
    of step: Double, in range: ClosedRange<Double>, most: Int
  ) -> [Double] {
    var values: [Double] = []
    let first = (range.lowerBound / step).rounded(.up)
    for index in 0...(most + 2) {
      let value = (first + Double(index)) * step
      guard value <= range.upperBound + step * 1e-9 else { break }
      values.append(value == 0 ? 0 : value)
    }
    return values
  }

  func text(_ value: Double) -> String { FigureText.fixed(value, decimals) }

  /// `range` extended to round numbers, so that no value is on the border.
  static func around(_ range: ClosedRange<Double>, most: Int = 4) -> ClosedRange<Double> {
    let (low, high) = (range.lowerBound, range.upperBound)
    guard low.isFinite, high.isFinite, (high - low).isFinite else { return -1...1 }
    if low == high {
      let margin = max(abs(low) * 0.1, 1e-3)
      return (low - margin)...(high + margin)
    }
    let ticks = NiceTicks(range, most: most).values
    guard ticks.count > 1 else { return range }
    let step = ticks[1] - ticks[0]
    let outer = ((low / step).rounded(.down) * step)...((high / step).rounded(.up) * step)
    return outer.lowerBound < outer.upperBound ? outer : range
  }
}

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

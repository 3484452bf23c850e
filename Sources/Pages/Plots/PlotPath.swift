/// Builds the `d` attribute of paths in whole units of a drawing.
enum PlotPath {
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

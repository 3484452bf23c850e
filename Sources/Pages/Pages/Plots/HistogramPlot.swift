import Core

/// A histogram with bars of equal width.
struct HistogramPlot: Sendable {
  var range: ClosedRange<Double>
  /// Counts of equal parts of the range.
  var bins: [Int]
  var axis: String
  var name: String

  func markup() -> Markup {
    let total = bins.reduce(0) { $0.addingReportingOverflow($1).partialValue }
    var buckets = ColumnBuckets(range: range, columns: max(1, bins.count))
    let width = (range.upperBound - range.lowerBound) / Double(max(1, bins.count))
    for (index, count) in bins.enumerated() where count > 0 {
      buckets.add(
        at: range.lowerBound + (Double(index) + 0.5) * width,
        Double(count) / Double(max(1, total)) * 100)
    }
    let most = NiceTicks.around(0...max(buckets.values?.upperBound ?? 1, 1e-3))
    let plot = StripPlot(
      lanes: [
        StripPlot.Lane(
          name: "% of the pixels", buckets: buckets, values: 0...most.upperBound, height: 150,
          isFilled: true, isLine: false)
      ], range: range, axis: axis, name: name)
    return plot.markup()
  }
}

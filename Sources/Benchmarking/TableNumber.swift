import Core

/// A number of a table with `places` decimals, rounded to nearest.
func decimalText(_ value: Double, places: Int) -> String {
  guard value.isFinite, value.magnitude < 1e15 else { return "-" }
  var scale = 1
  for _ in 0..<places { scale *= 10 }
  let scaled = Int((value.magnitude * Double(scale)).rounded())
  let sign = value < 0 && scaled > 0 ? "-" : ""
  guard places > 0 else { return sign + "\(scaled)" }
  return sign + "\(scaled / scale)." + (scaled % scale).padded(places)
}

/// A number of a table with about three significant digits; `-` for none.
func shortText(_ value: Double?) -> String {
  guard let value else { return "-" }
  return decimalText(value, places: value.magnitude < 10 ? 2 : value.magnitude < 100 ? 1 : 0)
}

/// Formats columns: the first left-aligned, the others right-aligned.
enum ColumnText {
  static func lines(_ rows: [[String]]) -> [String] {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in
      rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
    }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let blanks = String(repeating: " ", count: widths[column] - cell.count)
        line += column == 0 ? cell + blanks : "  " + blanks + cell
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}

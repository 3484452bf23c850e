import Core

/// A text table with aligned columns.
public struct TextTable {
  private var rows: [[String]] = []

  public init() {}

  /// Cells may contain text from others; line breaks are replaced.
  public mutating func add(_ cells: [String]) { rows.append(cells.map(\.onOneLine)) }

  /// The table with two blanks between columns, no trailing blanks, and no final line end.
  public var text: String {
    var widths: [Int] = []
    for row in rows {
      for (column, cell) in row.enumerated() {
        if column == widths.count { widths.append(0) }
        widths[column] = max(widths[column], cell.count)
      }
    }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        line += cell
        if column + 1 < row.count {
          line += String(repeating: " ", count: widths[column] + 2 - cell.count)
        }
      }
      while line.last == " " { line.removeLast() }
      return line
    }.joined(separator: "\n")
  }
}

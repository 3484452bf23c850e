import Core

/// A text table with aligned columns.
public struct TextTable {
  private var rows: [[String]] = []

  public init() {}

  /// Cells may contain text from others; line breaks are replaced.
  public mutating func add(_ cells: [String]) { rows.append(cells.map(\.onOneLine)) }

  /// The widest cell of each column.
  private var widths: [Int] {
    rows.reduce(into: []) { widths, row in
      for (column, cell) in row.enumerated() {
        if column == widths.count { widths.append(0) }
        widths[column] = max(widths[column], cell.count)
      }
    }
  }

  /// The table in at most `columns` columns of text: what does not fit stands in further tables below, each with the
  /// first column, which is cut where it takes more than half of a line.
  public func text(columns most: Int) -> String {
    guard let first = widths.first, widths.count > 1 else { return text }
    let head = min(first, most / 2)
    var tables: [TextTable] = []
    var used = Int.max
    for column in 1..<widths.count {
      if used > most - widths[column] - 2 {
        var table = TextTable()
        for row in rows { table.add([row[0].cut(to: head)]) }
        tables.append(table)
        used = head
      }
      used += 2 + widths[column]
      for (index, row) in rows.enumerated() {
        tables[tables.count - 1].rows[index].append(row.count > column ? row[column] : "")
      }
    }
    return tables.map(\.text).joined(separator: "\n\n")
  }

  /// The table with two blanks between columns, no trailing blanks, and no final line end.
  public var text: String {
    let widths = widths
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

extension String {
  /// The text in lines of at most `columns` characters, the first behind `margin` and the others behind `hanging`. A
  /// longer word, such as a path, is not broken: people copy it. A percent sign stays with its number.
  public func wrapped(columns: Int, margin: String, hanging: String) -> String {
    var lines: [String] = []
    var (line, width) = (margin, margin.count)
    var isEmpty = true
    let words = split(separator: " ").reduce(into: [String]()) { words, word in
      if word.hasPrefix("%"), let last = words.popLast() {
        words.append("\(last) \(word)")
      } else {
        words.append(String(word))
      }
    }
    for word in words {
      let count = word.count
      if !isEmpty, width + 1 + count > columns {
        lines.append(line)
        (line, width, isEmpty) = (hanging, hanging.count, true)
      }
      line += isEmpty ? word : " " + word
      width += isEmpty ? count : 1 + count
      isEmpty = false
    }
    return (lines + [line]).joined(separator: "\n")
  }

  /// The beginning, with `…` in place of what is more than `most` characters.
  fileprivate func cut(to most: Int) -> String {
    count <= most ? self : prefix(max(0, most - 1)) + "…"
  }
}

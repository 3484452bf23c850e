/// The size of a terminal, in characters.
public struct TerminalSize: Hashable, Sendable {
  var columns: Int
  var rows: Int

  public init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
  }
}

/// Redrawn lines at the bottom of a terminal. Pure: returns the text to write.
struct TerminalLines {
  /// Width in columns of each line when it was drawn.
  private var widths: [Int] = []

  /// The text that clears the lines. In a window that has become narrower each takes more rows than
  /// before.
  mutating func clearing(_ size: TerminalSize) -> String {
    guard !widths.isEmpty else { return "" }
    let columns = max(1, size.columns)
    let rows = widths.reduce(0) { $0 + max(1, ($1 + columns - 1) / columns) }
    widths = []
    // Rows that have scrolled out of the window cannot be reached.
    let up = min(rows, max(1, size.rows)) - 1
    return "\r" + (up > 0 ? "\u{1B}[\(up)A" : "") + "\u{1B}[J"
  }

  /// Usable columns of the last line, after which a terminal shows `^C`.
  static func lastColumns(_ size: TerminalSize) -> Int { max(size.columns - 3, 1) }

  /// The text that replaces the lines; lines that do not fit are cut.
  mutating func drawing(_ lines: [String], _ size: TerminalSize) -> String {
    let before = clearing(size)
    // The last column stays empty, because a terminal would wrap.
    let fitting = lines.enumerated().map { place, line in
      TextWidth.cut(
        line, to: place == lines.count - 1 ? Self.lastColumns(size) : max(size.columns - 1, 1))
    }
    widths = fitting.map { TextWidth.columns($0) }
    return before + fitting.joined(separator: "\n")
  }
}

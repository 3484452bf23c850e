/// The size of a terminal, in characters.
public struct TerminalSize: Hashable, Sendable {
  public var columns: Int
  public var rows: Int

  public init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
  }
}

/// Lines at the bottom of a terminal that are drawn again and again. Pure: it says what is to be written.
struct TerminalLines {
  /// The columns that each line took when it was drawn.
  private var widths: [Int] = []

  /// What takes the lines away: in a window that has become narrower each takes more rows than it did.
  mutating func clearing(_ size: TerminalSize) -> String {
    guard !widths.isEmpty else { return "" }
    let columns = max(1, size.columns)
    let rows = widths.reduce(0) { $0 + max(1, ($1 + columns - 1) / columns) }
    widths = []
    // What has left the window upwards cannot be reached.
    let up = min(rows, max(1, size.rows)) - 1
    return "\r" + (up > 0 ? "\u{1B}[\(up)A" : "") + "\u{1B}[J"
  }

  /// What there is room for in the last line: behind it a terminal shows `^C`.
  static func lastColumns(_ size: TerminalSize) -> Int { max(size.columns - 3, 1) }

  /// The lines in place of those before; lines that do not fit are cut.
  mutating func drawing(_ lines: [String], _ size: TerminalSize) -> String {
    let before = clearing(size)
    // The last column stays empty: a terminal would go to the next line.
    let fitting = lines.enumerated().map { place, line in
      TextWidth.cut(
        line, to: place == lines.count - 1 ? Self.lastColumns(size) : max(size.columns - 1, 1))
    }
    widths = fitting.map { TextWidth.columns($0) }
    return before + fitting.joined(separator: "\n")
  }
}

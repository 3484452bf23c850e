/// A terminal as far as the display needs one: lines that wrap, also when the window changes.
struct FakeTerminal {
  var columns: Int
  /// Lines as they were written, before wrapping.
  private(set) var lines: [[Character]] = [[]]
  private var line = 0
  private var column = 0

  init(columns: Int) { self.columns = columns }

  private func rows(_ line: [Character]) -> Int { max(1, (line.count + columns - 1) / columns) }

  mutating func write(_ text: String) {
    var rest = Substring(text)
    while let character = rest.first {
      rest = rest.dropFirst()
      switch character {
      case "\r": column = column / columns * columns
      case "\n", "\r\n":
        line += 1
        column = 0
        if line == lines.count { lines.append([]) }
      case "\u{1B}":
        let code = rest.prefix { !$0.isLetter }
        let letter = rest.dropFirst(code.count).first
        rest = rest.dropFirst(code.count + 1)
        if letter == "A" { up(Int(code.dropFirst()) ?? 1) }
        if letter == "J" {
          lines[line] = Array(lines[line].prefix(column))
          lines.removeSubrange((line + 1)...)
        }
      default:
        while lines[line].count <= column { lines[line].append(" ") }
        lines[line][column] = character
        column += 1
      }
    }
  }

  private mutating func up(_ count: Int) {
    var left = count
    var row = column / columns
    while left > 0 {
      if row > 0 {
        row -= 1
      } else if line > 0 {
        line -= 1
        row = rows(lines[line]) - 1
      }
      left -= 1
    }
    column = row * columns
  }

  /// What is on the screen, without wrapping it.
  var text: String { lines.map { String($0) }.joined(separator: "\n") }
}

import Core

extension CSVScanner {
  /// Number of cells of the current line, including a last empty one after a delimiter.
  public var cellCount: Int { cells.count }

  /// The text of the current line without its line end; malformed UTF-8 is repaired.
  public var lineText: String { String(decoding: piece[line], as: UTF8.self) }

  /// The text of a cell; empty where the line has no such cell. Malformed UTF-8 is repaired.
  public func text(inCell cell: Int) -> String {
    guard cells.indices.contains(cell) else { return "" }
    let text = String(decoding: piece[cells[cell]], as: UTF8.self)
    guard isQuoted(cell), text.utf8.contains(UInt8(ascii: "\"")) else { return text }
    var single = ""
    var lastWasQuote = false
    for character in text.unicodeScalars {
      lastWasQuote = character == "\"" && !lastWasQuote
      if character != "\"" || lastWasQuote { single.unicodeScalars.append(character) }
    }
    return single
  }

  /// Whether a cell contains only blanks, or does not exist.
  public func isEmpty(cell: Int) -> Bool {
    !cells.indices.contains(cell) || cells[cell].isEmpty
  }

  /// Whether a cell's bytes are exactly `bytes`. Cost: no allocation.
  public func cell(_ cell: Int, holds bytes: [UInt8]) -> Bool {
    cells.indices.contains(cell) && piece[cells[cell]].elementsEqual(bytes)
  }

  /// The value of a cell as a double.
  public func number(inCell cell: Int) -> CSVNumber {
    guard cells.indices.contains(cell) else { return .empty }
    return CSVNumber(piece.span, cells[cell])
  }

  /// The integer nearest to the cell's decimal number × 10^`scale`, ties away from zero; the scale
  /// is 0 for nanoseconds, 9 for seconds. No floating-point number is involved. `nil` when the cell
  /// is not a finite number or does not fit.
  public func timestamp(inCell cell: Int, scale: Int = 0) -> Timestamp? {
    guard cells.indices.contains(cell) else { return nil }
    if scale == 0, let plain = plainInteger(cells[cell]) { return Timestamp(nanoseconds: plain) }
    return Timestamp(decimal: text(inCell: cell), scale: scale)
  }

  /// Reads `[+-]? digits` with up to 18 digits; more could overflow and go through exact
  /// arithmetic.
  private func plainInteger(_ range: Range<Int>) -> Int64? {
    let bytes = piece.span
    var index = range.lowerBound
    guard index < range.upperBound else { return nil }
    let negative = bytes[index] == UInt8(ascii: "-")
    if negative || bytes[index] == UInt8(ascii: "+") { index += 1 }
    guard (1...18).contains(range.upperBound - index) else { return nil }
    var value: Int64 = 0
    while index < range.upperBound {
      let digit = bytes[index] &- UInt8(ascii: "0")
      guard digit <= 9 else { return nil }
      value = value &* 10 &+ Int64(digit)
      index += 1
    }
    return negative ? -value : value
  }

  /// Finds the cells of the current line.
  mutating func split() {
    cells.removeAll(keepingCapacity: true)
    guard !isLineTooLong, !isBlank(line) else { return }
    var start = line.lowerBound
    while let end = cellEnd(from: start) {
      cells.append(trimmed(start..<end))
      start = end + 1
    }
    cells.append(trimmed(start..<line.upperBound))
  }

  func isBlank(_ range: Range<Int>) -> Bool {
    let bytes = piece.span
    for index in range where !Self.isBlank(bytes[index]) { return false }
    return true
  }

  /// The delimiter that ends the cell at `start`; `nil` for the last cell of the line.
  private func cellEnd(from start: Int) -> Int? {
    let bytes = piece.span
    var index = start
    while index < line.upperBound, bytes[index] != delimiter, Self.isBlank(bytes[index]) {
      index += 1
    }
    if index < line.upperBound, bytes[index] == UInt8(ascii: "\""),
      let close = closingQuote(of: index)
    {
      index = close + 1
    }
    while index < line.upperBound {
      if bytes[index] == delimiter { return index }
      index += 1
    }
    return nil
  }

  /// Position of the quote that closes the one at `open`; `nil` if the line has none, in which case
  /// the quote is an ordinary character.
  private func closingQuote(of open: Int) -> Int? {
    let bytes = piece.span
    var index = open + 1
    while index < line.upperBound {
      if bytes[index] == UInt8(ascii: "\"") {
        guard index + 1 < line.upperBound, bytes[index + 1] == UInt8(ascii: "\"") else {
          return index
        }
        index += 1
      }
      index += 1
    }
    return nil
  }

  private func trimmed(_ range: Range<Int>) -> Range<Int> {
    let bytes = piece.span
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high, Self.isBlank(bytes[low]) { low += 1 }
    while high > low, Self.isBlank(bytes[high - 1]) { high -= 1 }
    let quote = UInt8(ascii: "\"")
    if high - low >= 2, bytes[low] == quote, bytes[high - 1] == quote { return low + 1..<high - 1 }
    return low..<high
  }

  private func isQuoted(_ cell: Int) -> Bool {
    let before = cells[cell].lowerBound - 1
    return before >= line.lowerBound && piece[before] == UInt8(ascii: "\"")
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }
}

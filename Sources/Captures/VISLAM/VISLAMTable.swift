import Codecs
import Storage
import SystemPackage

/// A CSV table of a session behind its header: columns by name, rows with the rules for damage.
///
/// Comment lines before the header, `,` `;` or tab as delimiter, columns in any order and spelled in
/// any case, units in brackets ignored, no header at all where the first line already is a row of the
/// app's own column order.
struct VISLAMTable {
  /// How a row may be used.
  enum Row {
    case usable
    /// Too few cells, or too many.
    case corrupt
    /// The last line, cut inside a cell that is needed.
    case cut
  }

  let path: FilePath
  /// Name inside the capture's folder.
  let file: String
  private(set) var scanner: CSVScanner
  /// Column numbers by lower-case name without unit; of equal names the first.
  private(set) var columns: [String: Int] = [:]
  /// Names of the header's columns that repeat an earlier one.
  private(set) var repeatedColumns: [String] = []
  /// `false` for a file without any line.
  private(set) var hasContent = false
  /// Whether the first line was the header.
  private(set) var hasHeader = false
  /// Whether the file ends inside a line; known once all rows were read.
  private(set) var isCut = false
  /// Rows met so far, damaged ones included; a cut last line with unclosed cells is none.
  private(set) var rowCount = 0
  /// Rows with more cells than the header has columns, the surplus ones not empty: what decimal commas
  /// make of numbers.
  private(set) var surplusRows = 0
  /// Cells of a whole row.
  private var width = 0
  private var firstRowIsAtHand = false

  /// Opens a table and finds its header. `ownOrder` = the app's own columns, for files without header,
  /// and `isRow` tells such a row from a header.
  init(
    _ path: FilePath, ownOrder: [String], isRow: (CSVScanner) -> Bool
  ) throws(CaptureError) {
    let scanner: CSVScanner
    do throws(FileError) {
      let file = try MappedFile(path)
      if let text = TextBytes.utf8(ifUTF16: file) {
        scanner = CSVScanner(bytes: text)
      } else {
        scanner = try CSVScanner(path)
      }
    } catch {
      throw Self.unreadable(path, error)
    }
    try self.init(path, scanner, ownOrder: ownOrder, isRow: isRow)
  }

  /// The same for text at hand, the start of `path`.
  init(
    _ path: FilePath, head: [UInt8], ownOrder: [String], isRow: (CSVScanner) -> Bool
  ) throws(CaptureError) {
    try self.init(path, CSVScanner(bytes: TextBytes.utf8(head)), ownOrder: ownOrder, isRow: isRow)
  }

  private init(
    _ path: FilePath, _ scanner: CSVScanner, ownOrder: [String], isRow: (CSVScanner) -> Bool
  ) throws(CaptureError) {
    self.path = path
    self.scanner = scanner
    file = path.shownName
    while try nextLine() {
      let text = self.scanner.lineText
      if let mark = text.firstIndex(where: { $0 != " " && $0 != "\t" }), text[mark] == "#" {
        guard isHeader(comment: text[text.index(after: mark)...]) else { continue }
      } else {
        self.scanner.delimiter = Self.delimiter(of: text)
        firstRowIsAtHand = isRow(self.scanner)
        let row = self.scanner
        setColumns(
          firstRowIsAtHand ? ownOrder : (0..<row.cellCount).map { row.text(inCell: $0) })
      }
      hasContent = true
      hasHeader = !firstRowIsAtHand
      isCut = !self.scanner.isLineClosed
      return
    }
  }

  /// The columns that `known` does not list, nameless ones left out.
  func unknownColumns(_ known: Set<String>) -> [String] {
    columns.keys.filter { !known.contains($0) }.sorted() + repeatedColumns
  }

  /// Goes to the next row; `nil` at the end. `needed` = the columns without which a row is worthless.
  mutating func nextRow(needed: [Int]) throws(CaptureError) -> Row? {
    if firstRowIsAtHand {
      firstRowIsAtHand = false
    } else {
      guard try nextLine() else { return nil }
    }
    if !scanner.isLineClosed { isCut = true }
    if scanner.cellCount > width, (width..<scanner.cellCount).contains(where: hasText) {
      surplusRows += 1
      rowCount += 1
      return .corrupt
    }
    if !scanner.isLineClosed {
      // The last cell may be cut: only what a delimiter closes is known.
      guard needed.allSatisfy({ $0 < scanner.cellCount - 1 }) else { return .cut }
      rowCount += 1
      return .usable
    }
    rowCount += 1
    return scanner.isLineTooLong || scanner.cellCount < width ? .corrupt : .usable
  }

  private func hasText(_ column: Int) -> Bool { !scanner.isEmpty(cell: column) }

  /// Whether the cell of the row at hand is whole and holds something. `nil` = no such column.
  func hasValue(_ column: Int?) -> Bool {
    guard let column, !scanner.isEmpty(cell: column) else { return false }
    return scanner.isLineClosed || column < scanner.cellCount - 1
  }

  /// The number in a column of the row at hand; a column that is not there is empty.
  func number(_ column: Int?) -> CSVNumber {
    guard let column, hasValue(column) else { return .empty }
    return scanner.number(inCell: column)
  }

  private mutating func nextLine() throws(CaptureError) -> Bool {
    do throws(FileError) {
      return try scanner.nextLine()
    } catch {
      throw Self.unreadable(path, error)
    }
  }

  /// What to do about a table of which no row can be read.
  static func remedy(surplusRows: Int, firstCorruptLine: Int) -> String? {
    if surplusRows > 0 {
      return
        "\(surplusRows) rows have more cells than the header: decimal commas? Write numbers with a "
        + "decimal point"
    }
    return firstCorruptLine > 0 ? "check line \(firstCorruptLine)" : nil
  }

  private static func unreadable(_ path: FilePath, _ error: FileError) -> CaptureError {
    CaptureError(error, of: path)
  }

  private mutating func setColumns(_ names: [String]) {
    for (index, name) in names.enumerated() {
      let plain = Self.plainName(name)
      if plain.isEmpty { continue }
      width = index + 1
      if columns[plain] == nil { columns[plain] = index } else { repeatedColumns.append(plain) }
    }
  }

  /// Whether a comment line is the header after all: one of its cells is the time column's name.
  private mutating func isHeader(comment: Substring) -> Bool {
    let delimiter = Character(Unicode.Scalar(Self.delimiter(of: comment)))
    let names = comment.split(separator: delimiter, omittingEmptySubsequences: false).map(
      String.init)
    guard names.contains(where: { ["timestamp", "timestamp_ns"].contains(Self.plainName($0)) })
    else { return false }
    scanner.delimiter = Self.delimiter(of: comment)
    setColumns(names)
    return true
  }

  private static func delimiter(of line: some StringProtocol) -> UInt8 {
    for delimiter in [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")]
    where line.utf8.contains(delimiter) { return delimiter }
    return UInt8(ascii: ",")
  }

  /// Lower case, without a unit in `[]` or `()` and without blanks and quotes around it.
  static func plainName(_ name: String) -> String {
    let bare = name.prefix { $0 != "[" && $0 != "(" }
    let trimmed = bare.drop { $0 == " " || $0 == "\t" || $0 == "\"" }
    let end = trimmed.lastIndex { $0 != " " && $0 != "\t" && $0 != "\"" }
    return end.map { trimmed[...$0].lowercased() } ?? ""
  }
}

import Core
import FoundationEssentials
import Media
import SystemPackage

/// A CSV table of a capture: columns by name, rows classified by damage.
///
/// Accepts comment lines before the header; `,`, `;` or tab as delimiter; columns in any order and
/// case; units in brackets, which are ignored; and no header at all if the first line is a row in
/// the app's column order.
struct RowTable {
  /// Whether a row is usable.
  enum Row {
    case usable
    /// Too few cells, or too many.
    case corrupt
    /// The last line, cut inside a required cell.
    case cut
  }

  let path: FilePath
  /// Name inside the capture's folder.
  let file: String
  private(set) var scanner: CSVScanner
  /// Column index by lower-case name without unit; of equal names the first.
  private(set) var columns: [String: Int] = [:]
  /// Names of the header's columns that repeat an earlier one.
  private(set) var repeatedColumns: [String] = []
  /// `false` for a file without lines.
  private(set) var hasContent = false
  /// Whether the first line was the header.
  private(set) var hasHeader = false
  /// Whether the file ends inside a line; known once all rows were read.
  private(set) var isCut = false
  /// Number of rows read so far, including damaged ones; without a cut last line that lacks cells.
  private(set) var rowCount = 0
  /// Number of rows with more cells than the header has columns, the surplus ones not empty, as
  /// decimal commas cause.
  private(set) var surplusRows = 0
  /// Number of damaged rows with a comma in a table that another delimiter divides, as decimal commas are.
  private var commaRows = 0
  /// Whether it has a row, damaged or not; known once all rows were read.
  private(set) var hasRows = false
  var damage = RowDamage()
  /// Number of cells of a complete row.
  private var width = 0
  private var firstRowIsAtHand = false
  private var hasOpenEnd = false

  /// Opens a table and finds its header. `ownOrder` is the app's column order, for files without
  /// header; `isRow` distinguishes such a row from a header.
  init(
    _ path: FilePath, ownOrder: [String], isRow: (CSVScanner) -> Bool
  ) throws(CaptureError) {
    try self.init(
      path, try CaptureError.naming(path, try Self.scanner(path)), ownOrder: ownOrder, isRow: isRow)
  }

  /// A scanner of a text in any encoding of Unicode.
  static func scanner(
    _ path: FilePath, longestLine: Int = 1 << 16
  ) throws(FileError) -> CSVScanner {
    let file = try MappedFile(path)
    try InputLimits.bytesOfTable.check(file.count, of: path)
    guard let text = TextBytes.utf8(ifUTF16: file) else {
      return try CSVScanner(path, longestLine: longestLine)
    }
    return CSVScanner(bytes: text, longestLine: longestLine)
  }

  /// Reads the table from text in memory, the start of `path`.
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

  /// For apps that write line ends only between rows: a last row with all its cells, the last one a number, is whole.
  /// Call it before the first row.
  mutating func acceptOpenEnd() {
    hasOpenEnd = true
    isCut = false
  }

  /// Whether no cell of the current row can be cut.
  private var isRowWhole: Bool {
    if scanner.isLineClosed { return true }
    guard hasOpenEnd, width > 0, scanner.cellCount == width else { return false }
    return ![.empty, .invalid].contains(scanner.number(inCell: width - 1))
  }

  /// The named columns that are not in `known`.
  func unknownColumns(_ known: Set<String>) -> [String] {
    columns.keys.filter { !known.contains($0) }.sorted() + repeatedColumns
  }

  /// Advances to the next row; `nil` at the end. `needed` lists the columns that a row must have.
  mutating func nextRow(needed: [Int]) throws(CaptureError) -> Row? {
    if firstRowIsAtHand {
      firstRowIsAtHand = false
    } else {
      guard try nextLine() else { return nil }
    }
    let isWhole = isRowWhole
    if !isWhole { isCut = true }
    if scanner.cellCount > width, (width..<scanner.cellCount).contains(where: hasText) {
      surplusRows += 1
      rowCount += 1
      return .corrupt
    }
    if !isWhole {
      // The last cell may be cut: only cells closed by a delimiter are complete.
      guard needed.allSatisfy({ $0 < scanner.cellCount - 1 }) else { return .cut }
      rowCount += 1
      return .usable
    }
    rowCount += 1
    return scanner.isLineTooLong || scanner.cellCount < width ? .corrupt : .usable
  }

  /// Reads all rows. Those that `take` refuses count as damaged.
  mutating func readRows(
    needed: [Int], _ take: (inout RowTable) -> Bool
  ) throws(CaptureError) {
    while let row = try nextRow(needed: needed) {
      if row == .cut { continue }
      hasRows = true
      if row == .corrupt || !take(&self) { drop() }
    }
  }

  /// Counts the current row as damaged.
  mutating func drop() {
    damage.corrupt += 1
    if damage.firstLine == 0 { damage.firstLine = scanner.lineNumber }
    let comma = UInt8(ascii: ",")
    if scanner.delimiter != comma, scanner.lineText.utf8.contains(comma) { commaRows += 1 }
  }

  /// Leaves out rows whose time is far away from all others.
  mutating func leaveOutFar<Value>(_ rows: inout [Value], at time: (Value) -> Timestamp) {
    let bounds = TimeBounds(rows.map(time))
    let read = rows.count
    rows.removeAll { !bounds.contains(time($0)) }
    damage.corrupt += read - rows.count
  }

  /// The error of a table none of whose rows can be used.
  var unusable: CaptureError {
    let sign: String? =
      if surplusRows > 0 {
        "\(surplusRows) rows have more cells than the header, as with decimal commas"
      } else if commaRows > 0 {
        "\(commaRows) rows have commas inside of cells, as decimal commas are"
      } else {
        nil
      }
    return CaptureError(
      file: path, problem: "none of its \(rowCount) rows can be read",
      remedy: damage.firstLine > 0 ? "check line \(damage.firstLine)" : nil,
      correction: sign.map { "write numbers with a decimal point: " + $0 })
  }

  private func hasText(_ column: Int) -> Bool { !scanner.isEmpty(cell: column) }

  /// Whether the cell of the current row is complete and not empty. `nil` means a missing column.
  func hasValue(_ column: Int?) -> Bool {
    guard let column, !scanner.isEmpty(cell: column) else { return false }
    return column < scanner.cellCount - 1 || isRowWhole
  }

  /// The number in a column of the current row; a missing column counts as empty.
  func number(_ column: Int?) -> CSVNumber {
    guard let column, hasValue(column) else { return .empty }
    return scanner.number(inCell: column)
  }

  private mutating func nextLine() throws(CaptureError) -> Bool {
    do throws(FileError) {
      return try scanner.nextLine()
    } catch {
      throw CaptureError(error, of: path)
    }
  }

  private mutating func setColumns(_ names: [String]) {
    for (index, name) in names.enumerated() {
      let plain = Self.plainName(name)
      if plain.isEmpty { continue }
      width = index + 1
      if columns[plain] == nil { columns[plain] = index } else { repeatedColumns.append(plain) }
    }
  }

  /// Whether a comment line is the header: one of its cells is the name of the time column.
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

  static func delimiter(of line: some StringProtocol) -> UInt8 {
    for delimiter in [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")]
    where line.utf8.contains(delimiter) { return delimiter }
    return UInt8(ascii: ",")
  }

  /// The name in lower case, without a unit in `[]` or `()`, blanks and quotes.
  static func plainName(_ name: String) -> String {
    let bare = name.prefix { $0 != "[" && $0 != "(" }
    let trimmed = bare.drop { $0 == " " || $0 == "\t" || $0 == "\"" }
    let end = trimmed.lastIndex { $0 != " " && $0 != "\t" && $0 != "\"" }
    return end.map { trimmed[...$0].lowercased() } ?? ""
  }
}

extension RowTable {
  /// The columns with these names; the error names those that are missing.
  func indices(of names: [String]) throws(CaptureError) -> [Int] {
    let missing = names.filter { columns[$0] == nil }
    guard missing.isEmpty else { throw lacks(missing, of: names) }
    return names.compactMap { columns[$0] }
  }

  /// The error of a header without columns that the app's own order has.
  func lacks(_ missing: [String], of order: [String]) -> CaptureError {
    CaptureError(
      file: path, byteOffset: scanner.byteOffset,
      problem: "no column \(missing.map { "`\($0)`" }.joined(separator: ", ")) in the header of "
        + file,
      correction: "name the columns as the app does: \(order.joined(separator: ","))")
  }

  /// The column names in the header of a listed file; empty without one.
  static func columns(of name: String, in listing: FolderListing) -> Set<String> {
    guard listing.contains(name),
      let table = try? RowTable(
        listing.folder.appending(name: name), head: listing.head(of: name), ownOrder: [],
        isRow: { _ in false })
    else { return [] }
    return Set(table.columns.keys)
  }

  /// The table with a pose per frame by which a capture is recognized: families that would also claim such a folder ask
  /// here.
  static let poseTable = "odometry.csv"

  /// Whether a folder has that table. Cost: the first bytes of one file, if it is listed.
  static func hasPoses(in listing: FolderListing) -> Bool {
    ["frame", "qx", "qy", "qz", "qw"].allSatisfy(columns(of: poseTable, in: listing).contains)
  }
}

extension RowTable {
  /// Three cells of a row that belong together, such as x, y and z of a sensor.
  enum Triple: Equatable {
    case values(Double, Double, Double)
    /// No cell has text.
    case empty
    /// All are numbers, at least one of them not finite.
    case nonFinite
    /// A cell lacks, or is no number.
    case invalid
  }

  /// The numbers in three columns of the current row.
  func triple(_ columns: [Int]) -> Triple {
    let (x, y, z) = (number(columns[0]), number(columns[1]), number(columns[2]))
    if case .finite(let x) = x, case .finite(let y) = y, case .finite(let z) = z {
      return .values(x, y, z)
    }
    let all = [x, y, z]
    if all.allSatisfy({ $0 == .empty }) { return .empty }
    if all.contains(.empty) || all.contains(.invalid) { return .invalid }
    return .nonFinite
  }
}

/// What is wrong with the rows of a table.
struct RowDamage {
  var corrupt = 0
  /// The first damaged line; 0 if there is none.
  var firstLine = 0
  var nonFinite = 0

  func report(
    to warnings: WarningCollector, _ subject: String,
    _ what: String =
      "rows with too few or too many cells, without a usable time or with text for a number"
  ) {
    warnings.add(
      .corruptRecord, subject, count: corrupt,
      what + (firstLine > 0 ? ", the first in line \(firstLine)" : ""))
  }
}

/// Decodes text files to UTF-8, whatever encoding an editor or a copy has produced.
enum TextBytes {
  /// Converts UTF-16, with or without byte order mark, to UTF-8; removes the mark of UTF-8. Other
  /// bytes are returned unchanged. Cost: for UTF-8 only the first bytes are read.
  static func utf8(_ bytes: Data) -> Data {
    let head = Array(bytes.prefix(4))
    if let (isBigEndian, mark) = utf16(head) {
      return Data(decoded(bytes.dropFirst(mark), isBigEndian: isBigEndian))
    }
    return head.starts(with: [0xEF, 0xBB, 0xBF]) ? Data(bytes.dropFirst(3)) : bytes
  }

  static func utf8(_ bytes: [UInt8]) -> [UInt8] {
    if let (isBigEndian, mark) = utf16(Array(bytes.prefix(4))) {
      return decoded(bytes.dropFirst(mark), isBigEndian: isBigEndian)
    }
    return bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
  }

  /// The whole file as UTF-8 if it is UTF-16; `nil` otherwise, in which case it can be read
  /// directly.
  static func utf8(ifUTF16 file: MappedFile) -> [UInt8]? {
    let head = file.withBytes(in: 0..<4) { $0.withUnsafeBytes(Array.init) }
    guard utf16(head) != nil else { return nil }
    return utf8(file.withBytes { $0.withUnsafeBytes(Array.init) })
  }

  /// The order of bytes of UTF-16 by the first ones, and the length of the byte order mark; `nil` for other encodings.
  /// Without a mark, UTF-16 is detected by ASCII characters with zero bytes: every text of these apps begins with two
  /// ASCII characters.
  private static func utf16(_ head: [UInt8]) -> (isBigEndian: Bool, mark: Int)? {
    if head.starts(with: [0xFF, 0xFE]) { return (false, 2) }
    if head.starts(with: [0xFE, 0xFF]) { return (true, 2) }
    guard head.count >= 2 else { return nil }
    let pairs = stride(from: 0, to: head.count - 1, by: 2).map { (head[$0], head[$0 + 1]) }
    if pairs.allSatisfy({ $0.0 != 0 && $0.1 == 0 }) { return (false, 0) }
    if pairs.allSatisfy({ $0.0 == 0 && $0.1 != 0 }) { return (true, 0) }
    return nil
  }

  /// An odd byte at the end of a cut file is dropped.
  private static func decoded(
    _ bytes: some Collection<UInt8>, isBigEndian: Bool
  ) -> [UInt8] {
    var units: [UInt16] = []
    units.reserveCapacity(bytes.count / 2)
    var first: UInt8?
    for byte in bytes {
      guard let before = first else {
        first = byte
        continue
      }
      let (high, low) = isBigEndian ? (before, byte) : (byte, before)
      units.append(UInt16(high) << 8 | UInt16(low))
      first = nil
    }
    return Array(String(decoding: units, as: UTF16.self).utf8)
  }
}

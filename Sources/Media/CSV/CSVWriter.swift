/// Writes a table as comma-separated text: UTF-8, LF, a header row, `.` as decimal point, an empty
/// cell for unknown values.
///
/// Text is buffered until it is drained, so the caller determines how much memory a long table
/// needs.
///
///     var table = CSVWriter(columns: ["frame", "timestamp_ns", "x"])
///     for sample in samples {
///       table.row(sample.frame, sample.time.nanoseconds, sample.x)
///       if table.pendingByteCount > 1 << 20 { try file.write(table.drain()) }
///     }
///     try file.write(table.drain())
///
/// No other dialects: no other delimiter, no byte order mark, no quoting of numbers.
public struct CSVWriter {
  /// Number of cells per row.
  let columnCount: Int
  /// Number of rows ended so far, without the header.
  public private(set) var rowCount = 0
  private var bytes: [UInt8] = []
  private var cellsInRow = 0

  /// Writes the header row. `columns` must not be empty.
  public init(columns: [String]) {
    columnCount = columns.count
    for column in columns { field(column) }
    endRow()
    rowCount = 0
  }

  /// Number of bytes written and not yet drained.
  public var pendingByteCount: Int { bytes.count }

  /// All bytes since the last call. Their memory is reused.
  public mutating func drain() -> [UInt8] {
    let drained = bytes
    bytes = []
    bytes.reserveCapacity(drained.count)
    return drained
  }

  /// Passes the bytes since the last call to `body` without copying them.
  public mutating func drain<Result>(_ body: ([UInt8]) throws -> Result) rethrows -> Result {
    defer { bytes.removeAll(keepingCapacity: true) }
    return try body(bytes)
  }

  /// Ends the row, which must have one cell per column.
  public mutating func endRow() {
    assert(cellsInRow == columnCount, "a row of \(cellsInRow) cells under \(columnCount) columns")
    bytes.append(UInt8(ascii: "\n"))
    cellsInRow = 0
    rowCount += 1
  }

  /// Writes the row, or the rest of it, and ends it. Samples of sensors are written cell by cell, which is faster.
  public mutating func row(_ cells: [(any CSVCell)?]) {
    for cell in cells {
      if let cell { cell.write(to: &self) } else { empty() }
    }
    endRow()
  }

  public mutating func row(_ cells: (any CSVCell)?...) { row(cells) }

  /// Writes an empty cell for an unknown value.
  public mutating func empty() {
    startCell()
  }

  public mutating func field(_ value: Int64) {
    startCell()
    appendDecimal(value)
  }

  public mutating func field(_ value: Int) {
    field(Int64(value))
  }

  /// Writes the shortest decimal text that reads back to the same double, such as `0.1`, `12.0`,
  /// `1e-05`; `nan` and `inf` for values that are not finite.
  public mutating func field(_ value: Double) {
    startCell()
    var text = value.description
    text.withUTF8 { bytes.append(contentsOf: $0) }
  }

  /// Writes a text; in quotes only if it contains a comma, a quote or a line end.
  public mutating func field(_ value: String) {
    startCell()
    if value.utf8.contains(where: Self.needsQuotes) {
      bytes.append(UInt8(ascii: "\""))
      for byte in value.utf8 {
        if byte == UInt8(ascii: "\"") { bytes.append(byte) }
        bytes.append(byte)
      }
      bytes.append(UInt8(ascii: "\""))
    } else {
      bytes.append(contentsOf: value.utf8)
    }
  }

  /// `nil` means unknown and gives an empty cell.
  public mutating func field(_ value: Int64?) {
    if let value { field(value) } else { empty() }
  }

  /// `nil` means unknown and gives an empty cell.
  public mutating func field(_ value: Double?) {
    if let value { field(value) } else { empty() }
  }

  /// `nil` means unknown and gives an empty cell.
  public mutating func field(_ value: String?) {
    if let value { field(value) } else { empty() }
  }

  /// Appends cells that are already encoded, with commas between them: for values that many rows
  /// share.
  public mutating func cells(_ text: ArraySlice<UInt8>, count: Int) {
    startCell()
    bytes.append(contentsOf: text)
    cellsInRow += count - 1
  }

  private mutating func startCell() {
    if cellsInRow > 0 { bytes.append(UInt8(ascii: ",")) }
    cellsInRow += 1
  }

  private mutating func appendDecimal(_ value: Int64) {
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    // 20 digits suffice for any 64-bit integer.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var rest = value.magnitude
      var start = digits.count
      repeat {
        let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
        start &-= 1
        digits[start] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit)
        rest = quotient
      } while rest > 0
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[start...]))
    }
  }

  private static func needsQuotes(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: ","), UInt8(ascii: "\""), UInt8(ascii: "\n"), UInt8(ascii: "\r"): true
    default: false
    }
  }
}

/// A value that a cell can hold.
public protocol CSVCell {
  func write(to table: inout CSVWriter)
}

extension Int: CSVCell {
  public func write(to table: inout CSVWriter) { table.field(self) }
}

extension Int64: CSVCell {
  public func write(to table: inout CSVWriter) { table.field(self) }
}

extension Double: CSVCell {
  public func write(to table: inout CSVWriter) { table.field(self) }
}

extension String: CSVCell {
  public func write(to table: inout CSVWriter) { table.field(self) }
}

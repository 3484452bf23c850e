import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Media

@Suite("Reading tables")
struct CSVScannerTests {
  /// The cells of every line, whatever the size of the pieces.
  private func rows(
    _ text: String, delimiter: Character = ",", pieceBytes: Int = 1 << 18,
    longestLine: Int = 1 << 16
  ) throws -> [[String]] {
    var scanner = CSVScanner(
      bytes: Array(text.utf8), pieceBytes: pieceBytes, longestLine: longestLine)
    scanner.delimiter = delimiter.asciiValue ?? 0
    var rows: [[String]] = []
    while try scanner.nextLine() {
      rows.append((0..<scanner.cellCount).map { scanner.text(inCell: $0) })
    }
    return rows
  }

  @Test(
    "Lines end with LF, CR LF or CR, wherever a piece of the file ends",
    arguments: ["a,1\nb,2\nc,3\n", "a,1\r\nb,2\r\nc,3\r\n", "a,1\rb,2\rc,3\r", "a,1\r\nb,2\nc,3"],
    [4, 5, 6, 7, 8, 1 << 18])
  func lineEnds(text: String, pieceBytes: Int) throws {
    #expect(try rows(text, pieceBytes: pieceBytes) == [["a", "1"], ["b", "2"], ["c", "3"]])
  }

  @Test(
    "Byte order mark, empty lines, blanks and NUL bytes at the end are no text",
    arguments: [
      "\u{FEFF}a,b\n", "\n\n  \t\na,b\n\r\n", " a\t,  b \n", "a,b\n\0\0\0\0", "a,b\0\0",
      "\u{FEFF}\n a , b",
    ])
  func noText(text: String) throws {
    #expect(try rows(text) == [["a", "b"]])
    #expect(try rows(text, pieceBytes: 4) == [["a", "b"]])
  }

  @Test(
    "A text of nothing has no lines", arguments: ["", "\u{FEFF}", "\n", "\r\n\r\n", "\0\0", "  "])
  func empty(text: String) throws {
    #expect(try rows(text).isEmpty)
  }

  @Test("Empty cells count, also behind the last delimiter")
  func emptyCells() throws {
    #expect(try rows(",a,,\n") == [["", "a", "", ""]])
  }

  @Test(
    "A quoted cell may hold delimiters and doubled quotes; a quote that never ends is a character",
    arguments: [
      ("\"a,b\",c\n", ["a,b", "c"]), ("\"say \"\"a\"\"\" , x\n", ["say \"a\"", "x"]),
      ("\"a,b\n", ["\"a", "b"]), ("a\"b,c\n", ["a\"b", "c"]), ("\"\",c\n", ["", "c"]),
    ])
  func quotes(text: String, cells: [String]) throws {
    #expect(try rows(text) == [cells])
  }

  @Test("Another delimiter leaves commas alone")
  func delimiters() throws {
    #expect(try rows("a;b,c\n", delimiter: ";") == [["a", "b,c"]])
    #expect(try rows("a\tb\n", delimiter: "\t") == [["a", "b"]])
    #expect(try rows("\ta\t\t\n", delimiter: "\t") == [["", "a", "", ""]])
  }

  @Test("Line numbers and byte offsets are those of the file, and only the last line can be open")
  func places() throws {
    var scanner = CSVScanner(bytes: Array("\u{FEFF}ab\r\n\r\ncd\nef".utf8), pieceBytes: 4)
    var places: [[Int]] = []
    while try scanner.nextLine() {
      places.append([scanner.lineNumber, scanner.byteOffset, scanner.isLineClosed ? 1 : 0])
    }
    #expect(places == [[1, 3, 1], [3, 9, 1], [4, 12, 0]])
  }

  @Test("A line too long for a table has no cells and does not fill memory")
  func longLine() throws {
    let text = "a,b\n" + String(repeating: "x,", count: 5_000) + "\nc,d\n"
    var scanner = CSVScanner(bytes: Array(text.utf8), pieceBytes: 64, longestLine: 256)
    var seen: [Bool] = []
    while try scanner.nextLine() {
      seen.append(scanner.isLineTooLong)
      #expect(scanner.isLineTooLong == (scanner.cellCount == 0))
      if scanner.isLineTooLong { #expect(scanner.byteOffset == 4) }
    }
    #expect(seen == [false, true, false])
  }

  @Test("A file is read like text at hand; a folder and a missing file are refused")
  func files() throws {
    let place = try TemporaryFolder()
    let folder = place.path
    let path = folder.appending("scanner.csv")
    let text = (0..<5_000).map { "\($0),\(Double($0) / 7)\n" }.joined()
    try path.write(text + "\0\0")
    var scanner = try CSVScanner(path, pieceBytes: 1 << 12)
    var count = 0
    while try scanner.nextLine() {
      #expect(scanner.timestamp(inCell: 0)?.nanoseconds == Int64(count))
      #expect(scanner.number(inCell: 1) == .finite(Double(count) / 7))
      count += 1
    }
    #expect(count == 5_000)
    #expect(throws: FileError.self) { try CSVScanner(folder) }
    #expect(throws: FileError.self) { try CSVScanner(folder.appending("no-such-file")) }
  }

  @Test("Bytes that are no table never trap")
  func junk() throws {
    var generator = SeededGenerator(seed: 42)
    let alphabet = Array("0123456789.,;\"\r\n\t eE+-naif\0#".utf8) + [0xEF, 0xBB, 0xBF, 0xFF]
    for _ in 0..<2_000 {
      let bytes = (0..<Int(generator.next() % 200)).map { _ in
        alphabet[Int(generator.next() % UInt64(alphabet.count))]
      }
      var scanner = CSVScanner(bytes: bytes, pieceBytes: 8, longestLine: 32)
      var lines = 0
      while try scanner.nextLine() {
        lines += 1
        for cell in -1...scanner.cellCount {
          _ = scanner.text(inCell: cell)
          _ = scanner.timestamp(inCell: cell, scale: 9)
          _ = scanner.number(inCell: cell)
        }
      }
      #expect(lines <= bytes.count)
    }
  }
}

@Suite("Writing tables")
struct CSVWriterTests {
  private func row(_ columns: Int, _ write: (inout CSVWriter) -> Void) -> String {
    var writer = CSVWriter(columns: (0..<columns).map { "c\($0)" })
    _ = writer.drain()
    write(&writer)
    writer.endRow()
    return String(decoding: writer.drain(), as: UTF8.self)
  }

  @Test("The header is the first row, lines end with LF, cells are separated by commas")
  func header() {
    var writer = CSVWriter(columns: ["frame", "x"])
    writer.field(7)
    writer.field(0.5)
    writer.endRow()
    #expect(String(decoding: writer.drain(), as: UTF8.self) == "frame,x\n7,0.5\n")
    #expect(writer.rowCount == 1)
    #expect(writer.drain().isEmpty)
  }

  @Test("Cells written before can be inserted between others")
  func cells() {
    let text = Array("x1,2,\"a,b\",4".utf8)
    #expect(row(4) { $0.cells(text[1...], count: 4) } == "1,2,\"a,b\",4\n")
    let between = row(5) {
      $0.field(-1)
      $0.cells(text[1...4], count: 3)
      $0.empty()
    }
    #expect(between == "-1,1,2,,\n")
  }

  @Test(
    "Integers keep every digit",
    arguments: [
      (0, "0"), (-1, "-1"), (10, "10"), (9_007_199_254_740_993, "9007199254740993"),
      (Int64.max, "9223372036854775807"), (Int64.min, "-9223372036854775808"),
    ])
  func integers(value: Int64, text: String) {
    #expect(row(1) { $0.field(value) } == text + "\n")
  }

  @Test(
    "Doubles are written in the shortest form that reads back",
    arguments: [
      (0.0, "0.0"), (-0.0, "-0.0"), (0.1, "0.1"), (12.0, "12.0"), (1e-5, "1e-05"),
      (-0.012, "-0.012"), (.leastNonzeroMagnitude, "5e-324"), (0.1 + 0.2, "0.30000000000000004"),
    ])
  func doubles(value: Double, text: String) {
    #expect(row(1) { $0.field(value) } == text + "\n")
  }

  @Test("Every double reads back to the same bits")
  func roundTrip() throws {
    var generator = SeededGenerator(seed: 0x5eed)
    for _ in 0..<20_000 {
      let value = Double(bitPattern: generator.next())
      guard value.isFinite else { continue }
      let text = row(1) { $0.field(value) }.dropLast()
      #expect(Double(text)?.bitPattern == value.bitPattern)
    }
  }

  @Test("Unknown values are empty cells")
  func unknown() {
    let text = row(5) {
      $0.empty()
      $0.field(Double?.none)
      $0.field(Int64?.none)
      $0.field(String?.none)
      $0.field(Int64?.some(3))
    }
    #expect(text == ",,,,3\n")
  }

  @Test(
    "Text is quoted only when it must be",
    arguments: [
      ("plain text", "plain text"), ("a,b", "\"a,b\""), ("say \"a\"", "\"say \"\"a\"\"\""),
      ("two\nlines", "\"two\nlines\""), ("cr\r", "\"cr\r\""), ("Café ☃", "Café ☃"),
    ])
  func quoting(value: String, text: String) {
    #expect(row(1) { $0.field(value) } == text + "\n")
  }
}

@Suite("Numbers in tables")
struct CSVNumberTests {
  private func scanner(_ cell: String) throws -> CSVScanner {
    var scanner = CSVScanner(bytes: Array("\(cell),\n".utf8))
    #expect(try scanner.nextLine())
    return scanner
  }

  @Test(
    "A cell is a finite number, a non-finite one, empty, or none",
    arguments: [
      ("0.0", .finite(0)), ("-0.012", .finite(-0.012)), ("1e-05", .finite(1e-5)),
      ("+7", .finite(7)),
      (".5", .finite(0.5)), ("5.", .finite(5)), ("1E3", .finite(1000)), ("1e+3", .finite(1000)),
      ("123456789012345677877719597056", .finite(0x1.8ee90ff6c373ep+96)),
      ("0.000000000000000000000000000001", .finite(1e-30)), ("9007199254740993", .finite(0x1p53)),
      ("nan", .nonFinite), ("NaN", .nonFinite), ("-nan", .nonFinite), ("inf", .nonFinite),
      ("-Inf", .nonFinite), ("Infinity", .nonFinite), ("1e999", .nonFinite),
      ("1e99999999999999999999", .nonFinite), ("1e-99999999999999999999", .finite(0)),
      ("", .empty), ("  ", .empty), ("abc", .invalid), ("0x10", .invalid), ("1.2.3", .invalid),
      ("1e", .invalid), ("1e+", .invalid), ("--1", .invalid), ("1 2", .invalid), (".", .invalid),
      ("-", .invalid), ("nano", .invalid), ("1f", .invalid), ("１", .invalid),
    ] as [(String, CSVNumber)])
  func numbers(text: String, number: CSVNumber) throws {
    #expect(try scanner(text).number(inCell: 0) == number)
  }

  @Test("The nearest double is found for every notation")
  func nearest() throws {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<5_000 {
      let value = Double(bitPattern: generator.next())
      guard value.isFinite else { continue }
      let short = Double(Int64(bitPattern: generator.next()) >> 30) / 1000
      for value in [value, short] {
        let read = try scanner("\(value)").number(inCell: 0).value
        #expect(read?.bitPattern == value.bitPattern)
      }
    }
  }

  @Test(
    "Timestamps are exact in integers, decimals and exponents",
    arguments: [
      ("123456789012345", 0, 123_456_789_012_345),
      ("1769251200123456789", 0, 1_769_251_200_123_456_789),
      ("+5", 0, 5), ("-5", 0, -5), ("1.5", 0, 2),
      ("1.7692512001234567e18", 0, 1_769_251_200_123_456_700),
      ("9223372036854775807", 0, .max), ("9223372036854775808", 0, nil), ("abc", 0, nil),
      ("", 0, nil),
      ("nan", 0, nil), ("31415.016664989", 9, 31_415_016_664_989), ("7", 6, 7_000_000),
      ("1e-9223372036854775808", 0, nil), ("18446744073709551615.5", 0, nil),
    ] as [(String, Int, Int64?)])
  func timestamps(text: String, scale: Int, nanoseconds: Int64?) throws {
    #expect(try scanner(text).timestamp(inCell: 0, scale: scale)?.nanoseconds == nanoseconds)
  }
}

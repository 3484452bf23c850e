@testable import Media
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

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

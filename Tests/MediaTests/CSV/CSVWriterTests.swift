@testable import Media
import TestSupport
import Testing

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

@testable import Media
@testable import Core
import TestSupport
import Testing

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

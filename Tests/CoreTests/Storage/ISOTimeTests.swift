import Testing

@testable import Core

@Suite("Times of ISO 8601")
struct ISOTimeTests {
  @Test(
    "A time is read with every form of zone and fraction",
    arguments: [
      ("2026-11-20T22:00:00Z", 1_795_212_000, 0, 0),
      ("2026-11-20T22:00:00", 1_795_212_000, 0, nil),
      ("2026-11-20T22:00:00.5Z", 1_795_212_000, 500_000_000, 0),
      ("2026-11-20T22:00:00.1234567899Z", 1_795_212_000, 123_456_789, 0),
      ("2026-11-20T22:00:00+01:00", 1_795_208_400, 0, 3600),
      ("2026-11-20T22:00:00+0100", 1_795_208_400, 0, 3600),
      ("2026-11-20T22:00:00+01", 1_795_208_400, 0, 3600),
      ("2026-11-20T22:00:00.25-08:30", 1_795_242_600, 250_000_000, -30_600),
      ("1969-12-31T23:59:58Z", -2, 0, 0),
      ("0000-01-01T00:00:00Z", -62_167_219_200, 0, 0),
      ("9999-12-31T23:59:59Z", 253_402_300_799, 0, 0),
      // What Foundation makes of them.
      ("2026-02-30T22:00:00Z", 1_772_488_800, 0, 0),
      ("2026-11-20T23:59:60Z", 1_795_219_200, 0, 0),
      ("2026-11-20T24:00:00Z", 1_795_219_200, 0, 0),
    ] as [(String, Int64, Int64, Int64?)])
  func read(text: String, seconds: Int64, fraction: Int64, secondsEast: Int64?) throws {
    let time = try #require(ISOTime(text))
    #expect(time.seconds == seconds)
    #expect(time.fraction == fraction)
    #expect(time.secondsEast == secondsEast)
  }

  @Test(
    "Anything else is no time",
    arguments: [
      "", "2026-11-20", "2026-11-20T22:00", "2026-11-20 22:00:00Z", "2026-13-01T00:00:00Z",
      "2026-00-01T00:00:00Z", "2026-02-32T00:00:00Z", "2026-02-00T00:00:00Z",
      "2026-11-20T25:00:00Z", "2026-11-20T23:60:00Z", "2026-11-20T23:59:61Z",
      "2026-11-20T22:00:00.Z", "2026-11-20T22:00:00,5Z", "2026-11-20T22:00:00 Z",
      "2026-11-20T22:00:00Zx", "2026-11-20T22:00:00+", "2026-11-20T22:00:00+1",
      "2026-11-20T22:00:00+01:", "2026-11-20T22:00:00+01:0", "2026-11-20T22:00:00+24:00",
      "2026-11-20T22:00:00+01:60", "2026-11-20T22:00:00+010000", "+026-11-20T22:00:00Z",
      "2026-1a-20T22:00:00Z", "２026-11-20T22:00:00Z", "20261120T220000Z",
    ])
  func refused(text: String) {
    #expect(ISOTime(text) == nil)
  }

  @Test("Every text that ends early or has another byte is read or refused, and never traps")
  func damaged() {
    let text = Array("2026-11-20T22:00:00.123+01:00".utf8)
    for length in 0...text.count {
      _ = ISOTime(String(decoding: text[..<length], as: UTF8.self))
    }
    for index in text.indices {
      for byte in UInt8.min...UInt8.max {
        var changed = text
        changed[index] = byte
        _ = ISOTime(String(decoding: changed, as: UTF8.self))?.nanoseconds
      }
    }
  }

  @Test("Nanoseconds end in the year 2262")
  func range() {
    #expect(ISOTime("2262-04-11T23:47:16Z")?.nanoseconds == 9_223_372_036_000_000_000)
    #expect(ISOTime("2262-04-11T23:47:17Z")?.nanoseconds == nil)
    #expect(ISOTime("1677-01-01T00:00:00Z")?.nanoseconds == nil)
  }

  @Test(
    "A time is written in whole seconds, milliseconds and days",
    arguments: [
      (0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z", "1970-01-01"),
      (1_795_212_000_007, "2026-11-20T22:00:00Z", "2026-11-20T22:00:00.007Z", "2026-11-20"),
      (951_782_399_999, "2000-02-28T23:59:59Z", "2000-02-28T23:59:59.999Z", "2000-02-28"),
      (-1, "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.999Z", "1969-12-31"),
    ] as [(Int64, String, String, String)])
  func written(milliseconds: Int64, seconds: String, text: String, day: String) {
    let nanoseconds = milliseconds * 1_000_000
    #expect(UTCText.text(nanoseconds: nanoseconds) == seconds)
    #expect(UTCText.text(milliseconds: milliseconds) == text)
    #expect(UTCText.day(nanoseconds: nanoseconds) == day)
    #expect(UTCText.nanoseconds(text) == nanoseconds)
  }

  @Test("Days from year 0 to 9999 are counted and read back without a gap")
  func days() {
    let first = CivilDay(year: 0, month: 1, day: 1).number
    let last = CivilDay(year: 9999, month: 12, day: 31).number
    #expect(last - first + 1 == 3_652_425)
    var before = CivilDay(number: first - 1)
    #expect(before.year == -1 && before.month == 12 && before.day == 31)
    for number in stride(from: first, through: last, by: 1) where number % 7 == 0 {
      let day = CivilDay(number: number)
      #expect(day.number == number)
      #expect((day.year, day.month, day.day) > (before.year, before.month, before.day))
      before = day
    }
  }
}

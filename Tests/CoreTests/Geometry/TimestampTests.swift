import Testing

@testable import Core

@Suite("Times from binary seconds")
struct TimestampSecondsTests {
  @Test(
    "The nearest nanosecond of the exact binary value is taken",
    arguments: [
      (0.0, 0), (-0.0, 0), (1, 1_000_000_000), (54691.250083, 54_691_250_083_000),
      (54691.387545, 54_691_387_545_000), (-54691.250083, -54_691_250_083_000),
      (1000000.3333333334, 1_000_000_333_333_333), (1767225600.1234567, 1_767_225_600_123_456_717),
      // A product that is rounded before its fraction is looked at is off by one here.
      (587580.6061435594, 587_580_606_143_559), (703040.7620656315, 703_040_762_065_631),
      (952467.3882682695, 952_467_388_268_269),
      // Neighbors of half a nanosecond, and 2⁻¹⁰ s, which is one.
      (4.999999999999999e-10, 0), (5e-10, 1), (1.5e-9, 1), (1.5000000000000002e-9, 2),
      (2.4999999999999996e-9, 2), (2.5e-9, 3), (-2.5e-9, -3), (5.5e-9, 5),
      (5.5000000000000004e-9, 6), (0.0005000005, 500_000), (0.0005000005000000001, 500_001),
      (-0.0005000005, -500_000), (0.0009765625, 976_563), (-0.0009765625, -976_563),
      (.leastNonzeroMagnitude, 0), (9.1e9, 9_100_000_000_000_000_000),
      (-9.1e9, -9_100_000_000_000_000_000),
    ] as [(Double, Int64)])
  func known(seconds: Double, nanoseconds: Int64) {
    #expect(Timestamp(exactSeconds: seconds)?.nanoseconds == nanoseconds)
  }

  @Test(
    "What is no time gives none",
    arguments: [
      .nan, .infinity, -.infinity, 9.2e9, -9.2e9, 1e300, .greatestFiniteMagnitude,
    ] as [Double])
  func refused(seconds: Double) {
    #expect(Timestamp(exactSeconds: seconds) == nil)
  }

  @Test(
    "Any double gives what its full decimal expansion gives",
    arguments: [1e-9, 1e-6, 1e-3, 1, 1e3, 1e5, 1e6, 1e8, 1.8e9, 9.19e9])
  func expansion(scale: Double) throws {
    var state: UInt64 = 42
    for _ in 0..<2000 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let seconds = scale * (Double(state >> 11) / Double(1 << 52) - 1)
      let text = decimalExpansion(of: seconds)
      #expect(
        Timestamp(exactSeconds: seconds) == Timestamp(decimalSeconds: text), "\(seconds) = \(text)")
    }
  }

  @Test("Exact halves of a nanosecond round away from zero")
  func halves() throws {
    // k + ½ nanoseconds is a double only where k + ½ is a multiple of 5⁹ / 2ⁿ.
    for power in 10...20 {
      let seconds = 1 / Double(1 << power)
      let text = decimalExpansion(of: seconds)
      let expected = try #require(Timestamp(decimalSeconds: text))
      #expect(Timestamp(exactSeconds: seconds) == expected)
      #expect(Timestamp(exactSeconds: -seconds)?.nanoseconds == -expected.nanoseconds)
    }
  }

  /// All digits of a finite double: significand × 2^e = significand × 5^-e / 10^-e.
  private func decimalExpansion(of value: Double) -> String {
    guard value != 0 else { return "0" }
    var exponent = Int(value.exponent) - 52
    var digits = String(UInt64(value.significand * 4_503_599_627_370_496))
      .utf8.reversed().map { Int($0) - 48 }
    func multiply(by factor: Int) {
      var carry = 0
      for index in digits.indices {
        carry += digits[index] * factor
        digits[index] = carry % 10
        carry /= 10
      }
      while carry > 0 {
        digits.append(carry % 10)
        carry /= 10
      }
    }
    while exponent > 0 {
      multiply(by: 2)
      exponent -= 1
    }
    let places = -exponent
    for _ in 0..<places { multiply(by: 5) }
    while digits.count <= places { digits.append(0) }
    let text = digits.reversed().map(String.init)
    let whole = text.dropLast(places).joined()
    return (value < 0 ? "-" : "") + whole + "." + text.suffix(places).joined() + "0"
  }
}

@Suite("Times from decimal text")
struct TimestampTextTests {
  @Test(
    "Seconds become nanoseconds digit by digit, ties away from zero",
    arguments: [
      ("0", 0), ("31415.016664989", 31_415_016_664_989), ("1.5e3", 1_500_000_000_000),
      ("1.5E-3", 1_500_000), ("+2.", 2_000_000_000), (".5", 500_000_000),
      ("0.0000000005", 1), ("-0.0000000005", -1), ("0.00000000049999999999999999999999", 0),
      ("12345e-400", 0), ("0e400", 0), ("1e+5", 100_000_000_000_000),
      ("9223372036.854775807", .max), ("9223372036.8547758074", .max),
      ("-9223372036.854775807", -9_223_372_036_854_775_807),
    ] as [(String, Int64)])
  func seconds(text: String, nanoseconds: Int64) {
    #expect(Timestamp(decimalSeconds: text)?.nanoseconds == nanoseconds)
  }

  @Test(
    "Nanoseconds pass through no floating-point number",
    arguments: [
      ("9007199254740993", 9_007_199_254_740_993), ("9223372036854775807", .max),
      ("1.6e9", 1_600_000_000), ("1767225600123456789.5", 1_767_225_600_123_456_790),
    ] as [(String, Int64)])
  func nanoseconds(text: String, nanoseconds: Int64) {
    #expect(Timestamp(decimalNanoseconds: text)?.nanoseconds == nanoseconds)
  }

  @Test(
    "Text that is no time that fits gives none",
    arguments: [
      "", " ", "+", "-", ".", "e5", "1e", "1e5.0", "nan", "inf", "0x10", "1,5", "1 2", "--1",
      "1e401", "1e-9223372036854775808", "9223372036.854775808", "9223372036.8547758075",
      "18446744073709551615e-9", "18446744073.7095516155", "99999999999999999999", "1e400",
    ])
  func refused(text: String) {
    #expect(Timestamp(decimalSeconds: text) == nil)
  }
}

@Suite("Distances between times")
struct TimestampDistanceTests {
  @Test(
    "Differences and sums stop at the ends of the range",
    arguments: [
      (0, 0, 0), (5, 3, 2), (3, 5, -2), (.max, -1, .max), (.min, 1, .min), (.max, .min, .max),
      (.min, .max, .min), (-1, .max, .min),
    ] as [(Int64, Int64, Int64)])
  func difference(a: Int64, b: Int64, expected: Int64) {
    #expect(Timestamp(nanoseconds: a) - Timestamp(nanoseconds: b) == expected)
  }

  @Test(
    "Moving a time stops at the ends of the range",
    arguments: [(1, 2, 3), (.max, 1, .max), (.min, -1, .min), (.max, -1, .max - 1)]
      as [(Int64, Int64, Int64)])
  func advanced(start: Int64, offset: Int64, expected: Int64) {
    let moved = Timestamp(nanoseconds: start).advanced(byNanoseconds: offset)
    #expect(moved.nanoseconds == expected)
  }

  @Test("Times sort by their nanoseconds")
  func order() {
    #expect(Timestamp(nanoseconds: -1) < Timestamp(nanoseconds: 0))
  }
}

@Suite("Times as texts of other tools")
struct TimeTextTests {
  @Test(
    "Decimal seconds come from the integer, with nine decimals",
    arguments: [
      (0, "0.000000000"), (1, "0.000000001"), (999_999_999, "0.999999999"),
      (1_000_000_000, "1.000000000"), (258_806_638_533_850, "258806.638533850"),
      (1_764_000_000_123_456_789, "1764000000.123456789"), (-1, "-0.000000001"),
      (-1_500_000_000, "-1.500000000"), (.max, "9223372036.854775807"),
      (.min, "-9223372036.854775808"),
    ] as [(Int64, String)])
  func seconds(nanoseconds: Int64, text: String) {
    #expect(Timestamp(nanoseconds: nanoseconds).decimalSeconds == text)
  }

  @Test(
    "Seconds and nanoseconds of ROS: the second part is never negative",
    arguments: [
      (0, 0, 0), (1_999_999_999, 1, 999_999_999), (-1, -1, 999_999_999), (-1_000_000_000, -1, 0),
      (.max, 9_223_372_036, 854_775_807), (.min, -9_223_372_037, 145_224_192),
    ] as [(Int64, Int64, UInt32)])
  func parts(nanoseconds: Int64, seconds: Int64, rest: UInt32) {
    let parts = Timestamp(nanoseconds: nanoseconds).secondsAndNanoseconds
    #expect(parts == (seconds, rest))
  }

  @Test(
    "Microseconds are rounded down",
    arguments: [(0, 0), (999, 0), (1000, 1), (-1, -1), (-1000, -1), (-1001, -2)]
      as [(Int64, Int64)])
  func microseconds(nanoseconds: Int64, expected: Int64) {
    #expect(Timestamp(nanoseconds: nanoseconds).microseconds == expected)
  }

  @Test("Digits are padded on the left and never cut")
  func digits() {
    #expect(Int64(42).padded(10) == "0000000042")
    #expect(Int64(12_345).padded(3) == "12345")
  }
}

@Suite("One camera in place of many")
struct MedianCameraTests {
  @Test(
    "The median of an even number is the mean of the middle two",
    arguments: [
      ([3], 3), ([1, 2], 1.5), ([9, 1, 5], 5), ([4, 1, 3, 2], 2.5), ([], 0),
      ([1e308, 1e308], 1e308), ([0.1, 0.1], 0.1),
    ] as [([Double], Double)])
  func median(values: [Double], expected: Double) {
    #expect(Median.of(values) == expected)
  }

  @Test("Each parameter is its own median; how far frames are from it is told of both kinds")
  func camera() throws {
    func camera(_ f: Double, _ c: Double) -> PinholeCamera {
      PinholeCamera(width: 64, height: 48, fx: f, fy: f + 1, cx: c, cy: 24)
    }
    let cameras = [camera(50, 30), camera(51, 33.5), camera(49, 31)]
    let median = try #require(PinholeCamera(medianOf: cameras))
    #expect(median == PinholeCamera(width: 64, height: 48, fx: 50, fy: 51, cx: 31, cy: 24))
    let spread = CameraSpread(of: cameras, about: median)
    #expect(spread.principalPoint == 2.5 && spread.focalLength == 1)
    #expect(spread.largest == 2.5 && spread.unusual == 1)
    #expect(
      spread.words(from: "it")
        == "the principal point is up to 2.5 pixels away from it, the focal length up to 1 pixels; 1 frames "
        + "are more than 2 pixels off")
    #expect(PinholeCamera(medianOf: []) == nil)
  }
}

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

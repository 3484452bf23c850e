@testable import Core
import Testing

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

@testable import Media
import Testing

@Suite("Half-precision numbers by table")
struct HalfFloatTests {
  /// Value by the definition of the format.
  private func value(_ bits: UInt16) -> Double {
    let sign = bits >> 15 == 1 ? -1.0 : 1.0
    let exponent = Int(bits >> 10 & 31)
    let fraction = Double(bits & 1023)
    return switch exponent {
    case 0: sign * fraction * 0x1p-24
    case 31: fraction == 0 ? sign * .infinity : .nan
    default: sign * (1024 + fraction) * Double(sign: .plus, exponent: exponent - 25, significand: 1)
    }
  }

  @Test("Every pattern has the value that the definition gives it")
  func everyPattern() {
    for bits in 0...UInt16.max {
      let (table, defined) = (HalfFloat.doubles[Int(bits)], value(bits))
      #expect(table == defined || (table.isNaN && defined.isNaN))
    }
  }

  @Test(
    "Meters become millimeters, half away from zero, and 0 where there is no distance",
    arguments: [
      (0x0000, 0), (0x3C00, 1000), (0x4248, 3141), (0x3BFF, 1000), (0x5410, 65_000), (0x5420, 0),
      (0xBC00, 0), (0x7C00, 0), (0xFC00, 0), (0x7E00, 0), (0x0001, 0), (0x8000, 0), (0x1000, 0),
      (0x1019, 1),
    ])
  func millimeters(bits: Int, expected: Int) {
    #expect(Int(HalfFloat.millimeters[bits]) == expected)
  }
}

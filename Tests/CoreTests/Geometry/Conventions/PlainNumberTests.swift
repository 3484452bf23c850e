@testable import Core
import Testing

@Suite("Numbers and units of other tools")
struct PlainNumberTests {
  @Test(
    "Plain decimals have no exponent and read back to the same double",
    arguments: [
      (0, "0"), (-0.0, "0"), (12, "12"), (-12.5, "-12.5"), (1e-05, "0.00001"),
      (-1.25e-07, "-0.000000125"), (1e16, "10000000000000000"), (1.5e17, "150000000000000000"),
      (179.99999999999997, "179.99999999999997"), (100, "100"), (0.1, "0.1"),
    ] as [(Double, String)])
  func plain(value: Double, text: String) {
    #expect(PlainNumber.text(value) == text)
    #expect(Double(text) == value)
  }

  @Test("What is no number has no text", arguments: [Double.nan, .infinity, -.infinity])
  func notANumber(value: Double) {
    #expect(PlainNumber.text(value) == nil)
  }

  @Test(
    "TUM's depth is millimeters × 5, none above 13,107",
    arguments: [(0, 0), (1, 5), (13_107, 65_535), (13_108, 0), (65_535, 0)] as [(UInt16, UInt16)])
  func tum(millimeters: UInt16, value: UInt16) {
    #expect(DepthUnits.tum(fromMillimeters: [millimeters]) == [value])
  }

  @Test(
    "ROS 1 has seconds of 32 bits without sign",
    arguments: [
      (-1, false), (0, true), (4_294_967_295_999_999_999, true), (4_294_967_296_000_000_000, false),
      (.max, false), (.min, false),
    ] as [(Int64, Bool)])
  func ros1(nanoseconds: Int64, isOne: Bool) {
    #expect(TimeText.isTimeOfROS1(Timestamp(nanoseconds: nanoseconds)) == isOne)
  }
}

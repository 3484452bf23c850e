@testable import Core
import Testing

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
    #expect(TimeText.decimalSeconds(Timestamp(nanoseconds: nanoseconds)) == text)
  }

  @Test(
    "Seconds and nanoseconds of ROS: the second part is never negative",
    arguments: [
      (0, 0, 0), (1_999_999_999, 1, 999_999_999), (-1, -1, 999_999_999), (-1_000_000_000, -1, 0),
      (.max, 9_223_372_036, 854_775_807), (.min, -9_223_372_037, 145_224_192),
    ] as [(Int64, Int64, UInt32)])
  func parts(nanoseconds: Int64, seconds: Int64, rest: UInt32) {
    let parts = TimeText.secondsAndNanoseconds(Timestamp(nanoseconds: nanoseconds))
    #expect(parts == (seconds, rest))
  }

  @Test(
    "Microseconds are rounded down",
    arguments: [(0, 0), (999, 0), (1000, 1), (-1, -1), (-1000, -1), (-1001, -2)]
      as [(Int64, Int64)])
  func microseconds(nanoseconds: Int64, expected: Int64) {
    #expect(TimeText.microseconds(Timestamp(nanoseconds: nanoseconds)) == expected)
  }

  @Test("Digits are padded on the left and never cut")
  func digits() {
    #expect(TimeText.nanoseconds(Timestamp(nanoseconds: 42), digits: 10) == "0000000042")
    #expect(TimeText.nanoseconds(Timestamp(nanoseconds: 12_345), digits: 3) == "12345")
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
    let median = try #require(MedianCamera(cameras))
    #expect(
      median.camera == PinholeCamera(width: 64, height: 48, fx: 50, fy: 51, cx: 31, cy: 24))
    let spread = CameraSpread(of: cameras, about: median.camera)
    #expect(spread.principalPoint == 2.5 && spread.focalLength == 1)
    #expect(spread.largest == 2.5 && spread.unusual == 1)
    #expect(
      spread.words(from: "it")
        == "the principal point is up to 2.5 pixels away from it, the focal length up to 1 pixels; 1 frames "
        + "are more than 2 pixels off")
    #expect(MedianCamera([]) == nil)
  }
}

@Suite("Brightness")
struct LumaTests {
  @Test("is the rounded weighted sum for every color on a grid of colors, in integers")
  func grid() {
    var wrong = 0
    for red in stride(from: 0, through: 255, by: 5) {
      for green in stride(from: 0, through: 255, by: 3) {
        for blue in stride(from: 0, through: 255, by: 3) {
          let exact = (299 * red + 587 * green + 114 * blue + 500) / 1000
          let y = Luma.y(red: UInt8(red), green: UInt8(green), blue: UInt8(blue))
          if Int(y) != exact { wrong += 1 }
        }
      }
    }
    #expect(wrong == 0)
    #expect(Luma.y(red: 255, green: 255, blue: 255) == 255)
  }
}

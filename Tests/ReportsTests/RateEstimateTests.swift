import Testing

@testable import Reports

@Suite("Rates and times left")
struct RateEstimateTests {
  @Test(
    "A number has one decimal below 100 and none above",
    arguments: [
      (0, "0.0"), (0.04, "0.0"), (0.05, "0.1"), (1, "1.0"), (9.96, "10.0"), (52.14, "52.1"),
      (99.94, "99.9"), (99.96, "100"), (100, "100"), (1234.5, "1235"), (-3, "0.0"),
      (1e300, "1000000000000000"), (.infinity, "?"), (.nan, "?"),
    ] as [(Double, String)])
  func short(value: Double, text: String) {
    #expect(RateEstimate.short(value) == text)
  }

  @Test(
    "A duration is rounded up to whole seconds, then to minutes",
    arguments: [
      (0, "0 s"), (0.1, "1 s"), (31, "31 s"), (59.5, "1 min 00 s"), (125, "2 min 05 s"),
      (3599.2, "1 h 00 min"), (4320, "1 h 12 min"), (90_000, "25 h 00 min"), (-5, "0 s"),
      (1e300, "833 h 20 min"),
    ] as [(Double, String)])
  func duration(seconds: Double, text: String) {
    #expect(RateEstimate.duration(seconds) == text)
  }

  @Test("Rate and time left come from what is done since the start")
  func estimate() {
    var rate = RateEstimate(startSeconds: 100)
    #expect(rate.text == "0 frames")
    #expect(rate.framesPerSecond == nil && rate.secondsLeft == nil)
    rate.update(done: 300, total: 1912, atSeconds: 106)
    #expect(rate.elapsedSeconds == 6)
    #expect(rate.text == "300/1912 frames, 50.0 frames/s, 33 s left")
    rate.update(done: 300, total: nil, atSeconds: 106)
    #expect(rate.text == "300 frames, 50.0 frames/s")
    rate.update(done: 2000, total: 1912, atSeconds: 110)
    #expect(rate.text == "2000/1912 frames, 200 frames/s")
    rate.update(done: 5, total: 10, atSeconds: 100.01)
    #expect(rate.text == "5/10 frames")
    rate.update(done: 5, total: 10, atSeconds: 90)
    #expect(rate.text == "5/10 frames")
  }
}

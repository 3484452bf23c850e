import Testing

@testable import Pages

@Suite("Rates and times left")
struct RateEstimateTests {
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

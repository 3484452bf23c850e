import Testing

@testable import Pages

@Suite("Rates and times left")
struct RateEstimateTests {
  @Test("Rate and time left come from what is done since the start")
  func estimate() {
    var rate = RateEstimate(startSeconds: 100)
    #expect(rate.framesPerSecond == nil && rate.secondsLeft == nil)
    rate.update(done: 300, total: 1912, atSeconds: 106)
    #expect(rate.elapsedSeconds == 6)
    #expect(rate.framesPerSecond == 50 && rate.secondsLeft == 32.24)
    rate.update(done: 300, total: nil, atSeconds: 106)
    #expect(rate.framesPerSecond == 50 && rate.secondsLeft == nil)
    rate.update(done: 2000, total: 1912, atSeconds: 110)
    #expect(rate.framesPerSecond == 200 && rate.secondsLeft == nil)
    rate.update(done: 5, total: 10, atSeconds: 100.01)
    #expect(rate.framesPerSecond == nil && rate.secondsLeft == nil)
    rate.update(done: 5, total: 10, atSeconds: 90)
    #expect(rate.framesPerSecond == nil && rate.secondsLeft == nil)
  }
}

import Testing

@testable import Cluster

@Suite("How long captures will take")
struct CostModelTests {
  static func samples(_ family: String, _ count: Int, secondsPerMegabyte: Double) -> [CostSample] {
    (1...count).map {
      CostSample(
        family: family, inputBytes: Int64($0) * 1_000_000, seconds: Double($0) * secondsPerMegabyte)
    }
  }

  @Test("Twenty earlier captures of a family speak for it")
  func family() {
    let model = CostModel(
      Self.samples("a", 20, secondsPerMegabyte: 2) + Self.samples("b", 19, secondsPerMegabyte: 8))
    #expect(
      model.expectation(family: "a", inputBytes: 100_000_000)
        == CostModel.Expectation(seconds: 200, basis: .family(20)))
    // 19 say nothing of their family, but count among all 39, of which the middle one takes 2.
    #expect(
      model.expectation(family: "b", inputBytes: 100_000_000)
        == CostModel.Expectation(seconds: 200, basis: .all(39)))
    #expect(model.expectation(family: nil, inputBytes: 1_000_000).basis == .all(39))
  }

  @Test("With fewer it is a guess, and says so")
  func guess() {
    let model = CostModel(Self.samples("a", 19, secondsPerMegabyte: 2))
    let expectation = model.expectation(family: "a", inputBytes: 5)
    #expect(expectation == CostModel.Expectation(seconds: 60, basis: .guess))
    #expect("\(expectation.basis)" == "a guess, for want of 20 earlier captures")
    #expect(
      "\(CostModel.Basis.family(31))" == "by 31 earlier captures of the same app, within ±50 %")
  }

  @Test("The middle one counts: single outliers do not move it")
  func median() {
    var samples = Self.samples("a", 25, secondsPerMegabyte: 2)
    for index in 0..<10 { samples[index].seconds = 1e9 }
    let model = CostModel(samples)
    #expect(model.expectation(family: "a", inputBytes: 10_000_000).seconds == 20)
  }

  @Test("Impossible samples and sizes do no harm")
  func odd() {
    let good = Self.samples("a", 20, secondsPerMegabyte: 1)
    let bad = [0, -1, Double.nan, .infinity].flatMap {
      [
        CostSample(family: "a", inputBytes: 5, seconds: $0),
        CostSample(family: "a", inputBytes: 0, seconds: 5),
      ]
    }
    let model = CostModel(bad + good)
    #expect(
      model.expectation(family: "a", inputBytes: 2_000_000)
        == CostModel.Expectation(seconds: 2, basis: .family(20)))
    for bytes in [Int64.min, -1, 0, 1] {
      #expect(model.expectation(family: "a", inputBytes: bytes).seconds == 1)
    }
    #expect(model.expectation(family: "a", inputBytes: .max).seconds.isFinite)
  }
}

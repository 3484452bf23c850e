@testable import Captures
import Testing

@testable import Engine

@Suite("The quality of a device's captures over nights")
struct QualityTrendTests {
  private static func trend(_ values: [Double], _ subject: String = "depthDisagreement")
    -> QualityTrend?
  {
    QualityTrend(subject, family: "f", values: values)
  }

  private static let steady: [Double] = [4, 5, 3, 4.5, 3.5, 4, 5.5, 3]

  @Test("A rise that most of the newest captures share is told, other changes are not")
  func rule() throws {
    let table: [(newest: [Double], isWorse: Bool, why: String)] = [
      ([9, 8, 10, 9, 9], true, "all are worse"),
      ([9, 3, 10, 9, 9], true, "four of five are worse"),
      ([9, 3, 10, 4, 9], false, "two of five are as before"),
      ([4, 30, 4, 4, 4], false, "one odd scene"),
      ([5.9, 5.9, 5.9, 5.9, 5.9], false, "a factor below 1.5"),
      ([2, 2, 2, 2, 2], false, "it has become better"),
    ]
    for row in table {
      let trend = try #require(Self.trend(Self.steady + row.newest))
      #expect(trend.isWorse == row.isWorse, "\(row.why)")
      #expect((trend.captures, trend.capturesBefore) == (5, 8))
      #expect(trend.before == 4)
    }
    // Twice as much, and still very little.
    #expect(Self.trend([1, 1, 1, 1, 1, 2, 2, 2, 2, 2])?.isWorse == false)
    #expect(
      Self.trend([0.1, 0.1, 0.1, 0.1, 0.1, 0.3, 0.3, 0.3, 0.3, 0.3], "depthMissing")?.isWorse
        == true)
    #expect(
      Self.trend([0.05, 0.05, 0.05, 0.05, 0.05, 0.1, 0.1, 0.1, 0.1, 0.1], "depthMissing")?.isWorse
        == false)
  }

  @Test(
    "Fewer than ten captures and other subjects tell nothing; of many only the last ones before count"
  )
  func counts() throws {
    #expect(Self.trend([Double](repeating: 1, count: 9)) == nil)
    #expect(Self.trend([Double](repeating: 1, count: 20), "blurred") == nil)
    let long = try #require(
      Self.trend([Double](repeating: 100, count: 50) + [Double](repeating: 1, count: 45)))
    #expect((long.before, long.capturesBefore, long.isWorse) == (1, 40, false))
  }

  @Test("Captures are compared by time, within a device and a family, as far as they were judged")
  func groups() {
    func sample(_ device: String, _ family: String, _ day: Int, _ value: Double?)
      -> QualityTrend.Sample
    {
      QualityTrend.Sample(
        device: device, family: family, time: "2026-11-\(day + 10)", id: "\(device)\(day)",
        quality: CaptureQuality(
          verdict: .good, reasons: [],
          judged: value.map { ["depthDisagreement": .init(value: $0, level: .good)] } ?? [:]))
    }
    let samples =
      (0..<12).map { sample("one", "b", $0, $0 < 7 ? 4 : 9) }
      + (0..<9).map { sample("two", "b", $0, 50) } + (0..<12).map { sample("one", "a", $0, 4) }
      + (0..<12).map { sample("three", "a", $0, nil) }
    let trends = QualityTrend.all(of: samples.reversed())
    #expect(trends.map(\.family) == ["a", "b"])
    #expect(trends.map(\.isWorse) == [false, true])
    #expect(trends.map(\.recent) == [4, 9])
  }
}

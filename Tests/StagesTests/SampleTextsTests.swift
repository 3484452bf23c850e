@testable import Captures
@testable import Media
@testable import Core
import StageSupport
import TestSupport
import Testing

@testable import Stages

@Suite("Inertial samples as text")
struct SampleTextsTests {
  private static let imu: IMUStream = {
    var random = SeededGenerator(seed: 5)
    let samples = (0..<30_000).map { index in
      IMUSample(
        timestamp: Timestamp(nanoseconds: Int64(index / 3) * 10_000_001 - 40_000_000),
        sensor: index % 3, x: Double.random(in: -20...20, using: &random),
        y: index % 7 == 0 ? 0 : Double.random(in: -1e-5...1e-5, using: &random),
        z: Double.random(in: -1e9...1e9, using: &random))
    }
    return IMUStream.sorting(
      samples, sensorNames: ["accelerometer", "a,b \"c\"", "gyroscope"],
      description: .untold, convention: .coremotion
    ).stream
  }()

  private static func row(_ index: Int) -> String {
    let sample = imu.samples[index]
    var csv = CSVWriter(columns: ["t", "sensor", "x", "y", "z"])
    csv.drain { _ in }
    csv.field(sample.timestamp.nanoseconds)
    csv.field(imu.sensors[sample.sensor])
    csv.field(sample.x)
    csv.field(sample.y)
    csv.field(sample.z)
    csv.endRow()
    return csv.drain { String(decoding: $0.dropLast(), as: UTF8.self) }
  }

  @Test(
    "Each is what a table would say of it, in whatever order they are asked for",
    arguments: [
      // Windows that overlap, over more than what is kept; jumps ahead; back; the same again.
      stride(from: 0, to: 29_000, by: 20).flatMap { Array($0..<$0 + 60) },
      [0, 1, 2, 500, 501, 29_999], Array((0..<100).reversed()), [7, 7, 7, 6, 7, 8],
      Array(0..<30_000) + Array(0..<10),
    ])
  func order(indices: [Int]) {
    var texts = SampleTexts(Self.imu)
    var wrong = 0
    for index in indices {
      let cells = texts.cells(of: index)
      let text =
        String(decoding: cells.time, as: UTF8.self) + ","
        + String(decoding: cells.values, as: UTF8.self)
      if text != Self.row(index) { wrong += 1 }
    }
    #expect(wrong == 0)
  }
}

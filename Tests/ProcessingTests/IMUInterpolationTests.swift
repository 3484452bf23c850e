@testable import Core
@testable import Processing
import Testing

@Suite("Inertial values at a frame's own time")
struct IMUInterpolationTests {
  static func sample(_ nanoseconds: Int64, _ value: Double, sensor: Int = 0) -> IMUSample {
    IMUSample(
      timestamp: Timestamp(nanoseconds: nanoseconds), sensor: sensor, x: value, y: -value,
      z: 2 * value)
  }

  static func rows(
    _ samples: [IMUSample], at time: Int64, attitude: Int? = nil, gaps: [Int64] = []
  ) -> [IMUFrameMatch.Row] {
    var rows: [IMUFrameMatch.Row] = []
    IMUMatcher(
      samples: samples, sensorCount: 2, attitudeSensor: attitude, gapThresholdNanoseconds: gaps
    )
    .forEachFrame(at: [Timestamp(nanoseconds: time)], mode: .interpolate) { rows = $0.rows }
    return rows
  }

  @Test(
    "Values lie on the line between the neighbors and end with the samples",
    arguments: [
      (-1, nil), (0, 10), (25, 15), (50, 20), (75, 30), (99, 39.6), (100, 40), (101, nil),
    ] as [(Int64, Double?)])
  func line(time: Int64, expected: Double?) throws {
    let rows = Self.rows(
      [Self.sample(0, 10), Self.sample(50, 20), Self.sample(100, 40)], at: time)
    guard let expected else {
      #expect(rows.isEmpty)
      return
    }
    let row = try #require(rows.first)
    #expect(rows.count == 1)
    #expect(row.offsetNanoseconds == 0)
    #expect(row.sample.timestamp.nanoseconds == time)
    #expect(abs(row.sample.x - expected) < 1e-12)
    #expect(abs(row.sample.y + expected) < 1e-12)
    #expect(abs(row.sample.z - 2 * expected) < 1e-12)
  }

  @Test("A sample at the frame's time is taken as it is, gap or not")
  func exact() {
    let samples = [Self.sample(0, 0.1), Self.sample(100, 0.3)]
    for sample in samples {
      let rows = Self.rows(samples, at: sample.timestamp.nanoseconds, attitude: 0, gaps: [1])
      #expect(rows.map(\.sample) == [sample])
    }
  }

  @Test("Nothing is interpolated across a gap of that sensor", arguments: [99, 100, 101])
  func gap(threshold: Int64) {
    let samples = [
      Self.sample(0, 1), Self.sample(0, 1, sensor: 1), Self.sample(100, 2),
      Self.sample(100, 2, sensor: 1),
    ]
    let rows = Self.rows(samples, at: 50, gaps: [threshold, 1000])
    // A step as long as the threshold is no gap yet.
    #expect(rows.map(\.sample.sensor) == (threshold >= 100 ? [0, 1] : [1]))
  }

  @Test(
    "Angles take the shorter way and stay within ±π",
    arguments: [
      (3.0, -3.0, 25, 3.0 + 0.25 * (2 * .pi - 6)),
      (3.0, -3.0, 75, 3.0 + 0.75 * (2 * .pi - 6) - 2 * .pi),
      (-3.0, 3.0, 25, -3.0 - 0.25 * (2 * .pi - 6)),
      (-3.0, 3.0, 75, -3.0 - 0.75 * (2 * .pi - 6) + 2 * .pi),
      (-0.5, 0.5, 50, 0), (1, 2, 50, 1.5),
      // Angles counted from 0 to 2π keep their own range.
      (4, 5, 50, 4.5),
    ] as [(Double, Double, Int64, Double)])
  func attitude(first: Double, last: Double, time: Int64, expected: Double) throws {
    let samples = [first, last].enumerated().map {
      IMUSample(
        timestamp: Timestamp(nanoseconds: Int64($0 * 100)), sensor: 0, x: $1, y: 0.5, z: -0.5)
    }
    let row = try #require(Self.rows(samples, at: time, attitude: 0).first)
    #expect(abs(row.sample.x - expected) < 1e-12)
    #expect(row.sample.y == 0.5 && row.sample.z == -0.5)
    let straight = try #require(Self.rows(samples, at: time, attitude: nil).first)
    #expect(abs(straight.sample.x - (first + (last - first) * Double(time) / 100)) < 1e-12)
  }
}

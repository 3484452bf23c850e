@testable import Core
@testable import Processing
import Testing

@testable import Stages

@Suite("Pictures that inertial samples cover")
struct IMUCoverageTests {
  private static func imu(_ times: [Int64]) -> SixAxisIMU {
    let samples = times.map {
      IMUSample(timestamp: Timestamp(nanoseconds: $0), sensor: 0, x: 0, y: 0, z: 0)
    }
    return SixAxisIMU(gyroscope: samples, specificForce: samples)
  }

  @Test(
    "lie from the first sample to before the last, with a sample since the one before",
    arguments: [
      ([10, 20, 30, 40], [9, 10, 25, 28, 39, 40, 41], [10, 25, 39]),
      ([10, 20, 30, 40], [20, 20, 30], [20, 30]),
      ([10], [9, 10, 11], []),
      ([], [1], []),
      ([10, 50], [10, 20, 49, 50], [10]),
    ] as [([Int64], [Int64], [Int64])])
  func kept(samples: [Int64], pictures: [Int64], expected: [Int64]) {
    var coverage = IMUCoverage(Self.imu(samples))
    var kept: [Int64] = []
    for picture in pictures {
      let time = Timestamp(nanoseconds: picture)
      if coverage.keeps(time, after: kept.last.map { Timestamp(nanoseconds: $0) }) {
        kept.append(picture)
      }
    }
    #expect(kept == expected)
  }
}

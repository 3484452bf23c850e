@testable import Core
@testable import Processing
import Testing

@Suite("One stream of angular velocity and specific force")
struct SixAxisIMUTests {
  private static func samples(_ times: [Int64], value: (Int64) -> Double = { Double($0) })
    -> [IMUSample]
  {
    times.map {
      IMUSample(
        timestamp: Timestamp(nanoseconds: $0), sensor: 0, x: value($0), y: -value($0), z: 1)
    }
  }

  private static let ms: Int64 = 1_000_000

  @Test("Acceleration is interpolated to the gyroscope's times, and never beyond its ends")
  func interpolation() {
    let imu = SixAxisIMU(
      gyroscope: Self.samples([0, 15, 20, 25, 41].map { $0 * Self.ms }),
      specificForce: Self.samples([10, 20, 30, 40].map { $0 * Self.ms }))
    #expect(imu.rows.map(\.timestamp.nanoseconds) == [15, 20, 25].map { $0 * Self.ms })
    #expect(imu.rows.map(\.specificForce.x) == [15e6, 20e6, 25e6])
    #expect(imu.rows.map(\.specificForce.y) == [-15e6, -20e6, -25e6])
    #expect(imu.rows.map(\.angularVelocity.x) == [15e6, 20e6, 25e6])
    #expect(imu.leftOut == 2)
  }

  @Test(
    "A sample within 500 ns is taken as it is; beyond it is interpolated",
    arguments: [
      (999_500, 999_500), (1_000_500, 1_000_500), (1_000_501, 1_000_000), (998_000, 1_000_000),
    ] as [(Int64, Double)])
  func nearby(acceleration: Int64, expected: Double) {
    let imu = SixAxisIMU(
      gyroscope: Self.samples([1_000_000]),
      specificForce: Self.samples([0, acceleration, 2_000_000]))
    #expect(imu.rows.map(\.specificForce.x) == [expected])
  }

  @Test("Nothing is interpolated across a step of more than three medians and 50 ms")
  func gaps() {
    let regular = (0...10).map { Int64($0) * 10 * Self.ms }
    let gyroscope = Self.samples([95, 120, 149, 155].map { $0 * Self.ms })
    let short = SixAxisIMU(
      gyroscope: gyroscope, specificForce: Self.samples(regular + [150 * Self.ms, 160 * Self.ms]))
    #expect(short.rows.map(\.timestamp.nanoseconds) == [95, 120, 149, 155].map { $0 * Self.ms })
    let long = SixAxisIMU(
      gyroscope: gyroscope, specificForce: Self.samples(regular + [151 * Self.ms, 160 * Self.ms]))
    #expect(long.rows.map(\.timestamp.nanoseconds) == [95, 155].map { $0 * Self.ms })
    #expect(long.leftOut == 2)
  }

  @Test("Times strictly increase: of equal ones the first stays")
  func equalTimes() {
    let imu = SixAxisIMU(
      gyroscope: Self.samples([5, 5, 6].map { $0 * Self.ms }),
      specificForce: Self.samples([0, 10].map { $0 * Self.ms }))
    #expect(imu.rows.count == 2)
    #expect(imu.leftOut == 1)
  }

  @Test("Times at the ends of the clock are no trap")
  func extremes() {
    let imu = SixAxisIMU(
      gyroscope: Self.samples([.min, 0, .max]), specificForce: Self.samples([.min, .max]))
    #expect(imu.rows.map(\.timestamp.nanoseconds) == [.min, 0, .max])
    #expect(SixAxisIMU(gyroscope: [], specificForce: []).rows.isEmpty)
  }
}

@Suite("Sharpness")
struct SharpnessTests {
  @Test("is the variance of the Laplacian: more for edges, 0 for flat and linear pictures")
  func order() {
    func sharpness(_ value: (Int, Int) -> UInt8) -> Sharpness {
      Sharpness(
        gray: (0..<12).flatMap { y in (0..<16).map { x in value(x, y) } }, width: 16, height: 12)
    }
    let flat = sharpness { _, _ in 80 }
    let ramp = sharpness { x, y in UInt8(10 * x + y) }
    let soft = sharpness { x, _ in x < 8 ? 100 : 120 }
    let hard = sharpness { x, _ in x < 8 ? 0 : 255 }
    #expect(flat == ramp)
    #expect(flat < soft && soft < hard)
    #expect(!(hard < soft))
  }

  @Test("of pictures without inner pixels is that of a flat one")
  func tiny() {
    #expect(
      Sharpness(gray: [0, 255], width: 2, height: 1)
        == Sharpness(gray: [], width: 0, height: 0))
  }
}

import Testing

@testable import Core
@testable import Processing

@Suite("Matching of inertial samples to frames")
struct IMUMatcherTests {
  /// A sample whose x tells its time, so that a row names itself.
  static func sample(_ nanoseconds: Int64, sensor: Int = 0) -> IMUSample {
    IMUSample(
      timestamp: Timestamp(nanoseconds: nanoseconds), sensor: sensor, x: Double(nanoseconds),
      y: Double(sensor), z: 0)
  }

  /// What a match comes to: per frame with time its index and (offset, sensor) of each row.
  struct Rows: Equatable {
    var frame: Int
    var rows: [[Int64]]
    init(_ frame: Int, _ rows: [[Int64]]) {
      self.frame = frame
      self.rows = rows
    }
  }

  static func match(
    _ samples: [IMUSample], sensors: Int = 1, frames: [Int64?], _ mode: IMUMatchMode
  ) -> [Rows] {
    var found: [Rows] = []
    let matcher = IMUMatcher(samples: samples, sensorCount: sensors)
    matcher.forEachFrame(at: frames.map { $0.map { Timestamp(nanoseconds: $0) } }, mode: mode) {
      match in
      found.append(
        Rows(match.frame, match.rows.map { [$0.offsetNanoseconds, Int64($0.sample.sensor)] }))
      for row in match.rows {
        #expect(row.sample.timestamp - match.timestamp == row.offsetNanoseconds)
      }
    }
    return found
  }

  @Test("The window includes both its ends and nothing beyond")
  func windowEdges() {
    let frame: Int64 = 54_691_250_083_000
    let window: Int64 = 50_000_000
    let offsets = [-window - 1, -window, -1, 0, 1, window, window + 1]
    let found = Self.match(
      offsets.map { Self.sample(frame + $0) }, frames: [frame],
      .symmetric(windowNanoseconds: window))
    #expect(found == [Rows(0, [[-window, 0], [-1, 0], [0, 0], [1, 0], [window, 0]])])
  }

  @Test("Windows of neighboring frames share samples; frames without time have no rows")
  func overlap() {
    let found = Self.match(
      [0, 10, 20].map { Self.sample($0) }, frames: [nil, 5, nil, 15],
      .symmetric(windowNanoseconds: 5))
    #expect(found == [Rows(1, [[-5, 0], [5, 0]]), Rows(3, [[-5, 0], [5, 0]])])
  }

  @Test("Frames may be out of order; rows keep the order of time and sensor")
  func unorderedFrames() {
    let samples = [Self.sample(0), Self.sample(0, sensor: 1), Self.sample(7), Self.sample(9)]
    let found = Self.match(
      samples, sensors: 2, frames: [9, 0], .symmetric(windowNanoseconds: 2))
    #expect(found == [Rows(0, [[-2, 0], [0, 0]]), Rows(1, [[0, 0], [0, 1]])])
  }

  @Test("Times at the ends of Int64 do not overflow")
  func extremes() {
    let samples = [Self.sample(.min), Self.sample(.max)]
    for mode in [IMUMatchMode.symmetric(windowNanoseconds: .max), .nearest(windowNanoseconds: 5)] {
      let found = Self.match(samples, frames: [.min, .max], mode)
      #expect(found.map(\.rows.count).allSatisfy { $0 >= 1 })
    }
    #expect(Self.match(samples, frames: [0], .symmetric(windowNanoseconds: -1)) == [Rows(0, [])])
  }

  struct PreviousCase: Sendable {
    var frames: [Int64?]
    var expected: [Rows]
  }

  @Test(
    "Samples go to the frame that follows them",
    arguments: [
      // The first frame has none; a sample at a frame's time belongs to it, not to the next.
      PreviousCase(
        frames: [10, 20, 30],
        expected: [Rows(0, []), Rows(1, [[-5, 0], [0, 0]]), Rows(2, [[-9, 0]])]),
      // A frame without time is stepped over.
      PreviousCase(frames: [10, nil, 20], expected: [Rows(0, []), Rows(2, [[-5, 0], [0, 0]])]),
      PreviousCase(frames: [nil, 20], expected: [Rows(1, [])]),
      // Time going back: the frames are taken by time. Standing still leaves nothing between.
      PreviousCase(
        frames: [20, 10, 10], expected: [Rows(0, [[-5, 0], [0, 0]]), Rows(1, []), Rows(2, [])]),
    ])
  func previousFrame(example: PreviousCase) {
    let found = Self.match(
      [10, 15, 20, 21].map { Self.sample($0) }, frames: example.frames, .previousFrame)
    #expect(found == example.expected)
  }

  /// Orders of six frames at 10 to 60, and frames without time or at the same time.
  static let orders: [[Int64?]] = [
    [10, 20, 30, 40, 50, 60], [10, 20, 50, 30, 40, 60], [60, 50, 40, 30, 20, 10],
    [10, 60, 20, 30, 40, 50], [60, 10, 20, nil, 30, 40, 50], [10, 30, 30, 20, nil, 20, 60, 40, 50],
  ]

  @Test(
    "Whatever order the frames have, each sample between them is in exactly one", arguments: orders)
  func everySampleOnce(frames: [Int64?]) {
    let samples = (0...70).map { Self.sample(Int64($0)) }
    let found = Self.match(samples, frames: frames, .previousFrame)
    var owners: [Int64: [Int64]] = [:]
    for match in found {
      guard let time = frames[match.frame] else { continue }
      for row in match.rows { owners[time + row[0], default: []].append(time) }
    }
    for time in Int64(0)...70 {
      let owner = (time + 9) / 10 * 10
      #expect(owners[time] == (11...60 ~= time ? [owner] : nil), "\(time)")
    }
  }

  @Test(
    "In the other modes a frame's rows do not depend on the order of the frames", arguments: orders)
  func orderOfOtherModes(frames: [Int64?]) {
    let samples = stride(from: Int64(0), through: 69, by: 3).flatMap { time in
      [Self.sample(time), Self.sample(time + 1, sensor: 1)]
    }
    let modes: [IMUMatchMode] = [
      .symmetric(windowNanoseconds: 7), .nearest(windowNanoseconds: 1), .interpolate,
    ]
    for mode in modes {
      for match in Self.match(samples, sensors: 2, frames: frames, mode) {
        let alone = Self.match(samples, sensors: 2, frames: [frames[match.frame]], mode)
        #expect(alone.first?.rows == match.rows, "\(mode), frame \(match.frame)")
      }
    }
  }

  @Test("Each sensor gives its nearest sample, the earlier one on a tie, none outside the window")
  func nearest() {
    let samples = [
      Self.sample(0), Self.sample(4, sensor: 1), Self.sample(9), Self.sample(11),
      Self.sample(12, sensor: 1), Self.sample(40, sensor: 2),
    ]
    let found = Self.match(
      samples, sensors: 3, frames: [10, 8, 60], .nearest(windowNanoseconds: 6))
    // At 8 both samples of sensor 1 are four away: the earlier one.
    #expect(
      found == [
        Rows(0, [[-1, 0], [2, 1]]), Rows(1, [[-4, 1], [1, 0]]), Rows(2, []),
      ])
    let edges = Self.match(
      [Self.sample(4), Self.sample(16)], frames: [10], .nearest(windowNanoseconds: 6))
    #expect(edges == [Rows(0, [[-6, 0]])])
    #expect(
      Self.match([Self.sample(3), Self.sample(17)], frames: [10], .nearest(windowNanoseconds: 6))
        == [Rows(0, [])])
  }

  @Test("Counts are there for every sensor, with first and last offset")
  func counts() {
    let matcher = IMUMatcher(
      samples: [Self.sample(1), Self.sample(2, sensor: 2), Self.sample(5), Self.sample(8)],
      sensorCount: 3)
    var counts: [[IMUFrameMatch.Count]] = []
    matcher.forEachFrame(
      at: [Timestamp(nanoseconds: 4), nil, Timestamp(nanoseconds: 50)],
      mode: .symmetric(windowNanoseconds: 3)
    ) { counts.append($0.counts) }
    let none = (0..<3).map { IMUFrameMatch.Count(sensor: $0) }
    #expect(
      counts == [
        [
          IMUFrameMatch.Count(
            sensor: 0, samples: 2, firstOffsetNanoseconds: -3, lastOffsetNanoseconds: 1),
          IMUFrameMatch.Count(sensor: 1),
          IMUFrameMatch.Count(
            sensor: 2, samples: 1, firstOffsetNanoseconds: -2, lastOffsetNanoseconds: -2),
        ], none,
      ])
  }

  @Test("Samples of unknown sensors take no part")
  func unknownSensors() {
    let samples = [Self.sample(0, sensor: -1), Self.sample(0), Self.sample(0, sensor: 7)]
    for mode in [
      IMUMatchMode.symmetric(windowNanoseconds: 1), .nearest(windowNanoseconds: 1), .interpolate,
    ] {
      #expect(Self.match(samples, frames: [0], mode) == [Rows(0, [[0, 0]])])
    }
  }

  @Test("The error of the caller stops the walk")
  func throwing() {
    struct Stop: Error {}
    var calls = 0
    #expect(throws: Stop.self) {
      try IMUMatcher(samples: [], sensorCount: 0)
        .forEachFrame(
          at: [Timestamp(nanoseconds: 0), Timestamp(nanoseconds: 1)], mode: .interpolate
        ) { _ in
          calls += 1
          throw Stop()
        }
    }
    #expect(calls == 1)
  }
}

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

@Suite("One stream of angular velocity and specific force")
struct SixAxisIMUTests {
  private static func samples(_ times: [Int64], value: (Int64) -> Double = { Double($0) })
    -> [IMUSample]
  {
    times.map {
      IMUSample(
        timestamp: Timestamp(nanoseconds: $0), sensor: 0, x: value($0), y: -value($0),
        z: 2 * value($0))
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
    #expect(imu.rows.map(\.specificForce.z) == [30e6, 40e6, 50e6])
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
    #expect(!(hard < soft) && !(flat < ramp))
  }

  @Test("of pictures without inner pixels is that of a flat one")
  func tiny() {
    #expect(
      Sharpness(gray: [0, 255], width: 2, height: 1)
        == Sharpness(gray: [], width: 0, height: 0))
  }
}

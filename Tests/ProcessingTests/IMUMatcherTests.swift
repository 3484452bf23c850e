@testable import Core
@testable import Processing
import Testing

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

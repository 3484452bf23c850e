import Foundation
import TestSupport
import Testing

@testable import Core
@testable import Processing

@Suite("How far a camera moved between two frames")
struct FrameMotionTests {
  /// Turned about one axis by so many degrees.
  private func pose(_ degrees: Double, axis: Int = 1, at position: [Double] = [0, 0, 0]) -> Pose {
    var v = [0.0, 0.0, 0.0]
    v[axis] = sin(degrees * .pi / 360)
    return Pose(
      position: position,
      orientation: Quaternion(x: v[0], y: v[1], z: v[2], w: cos(degrees * .pi / 360)))
  }

  /// One radian per second about z, a reading every 10 ms from `from` to `to` seconds.
  private func gyroscope(_ spans: (from: Double, to: Double)...) -> GyroscopeRotation {
    GyroscopeRotation(
      spans.flatMap { span in
        (Int(span.from * 100)...Int(span.to * 100)).map { index in
          IMUSample(
            timestamp: Timestamp(nanoseconds: Int64(index) * 10_000_000), sensor: 0, x: 0, y: 0,
            z: 1)
        }
      }, longestStepNanoseconds: 50_000_000)
  }

  /// How far the turn between two frames is from that of one radian per second.
  private func degrees(
    _ motion: FrameMotion, _ from: Int, _ to: Int, after seconds: Double
  ) throws -> Double {
    let expected: Double = seconds * 180 / .pi
    return abs(try #require(motion.turn(from: from, to: to)) - expected)
  }

  private func times(_ seconds: [Double?]) -> [Timestamp?] {
    seconds.map { $0.map { Timestamp(nanoseconds: Int64(($0 * 1e9).rounded())) } }
  }

  @Test("Of poses it is the angle between them, whatever the axis, and the straight distance")
  func poses() throws {
    let motion = FrameMotion(
      poses: [
        0: pose(10), 1: pose(40, at: [3, 4, 12]), 2: pose(-170), 3: pose(90, axis: 0),
        5: pose(10.001),
      ], times: [], gyroscope: nil)
    let first = try #require(motion.move(from: 0, to: 1))
    #expect(abs(first.degrees - 30) < 1e-9 && abs(first.meters - 13) < 1e-12)
    // The shorter way, and the same both ways.
    #expect(abs(try #require(motion.move(from: 0, to: 2)).degrees - 180) < 1e-6)
    let across = try #require(motion.move(from: 0, to: 3)).degrees
    // cos(half) of the product of turns of 90° and 10° about axes at right angles.
    #expect(abs(across - 2 * acos(cos(.pi / 4) * cos(.pi / 36)) * 180 / .pi) < 1e-9)
    #expect(abs(try #require(motion.move(from: 3, to: 0)).degrees - across) < 1e-9)
    #expect(abs(try #require(motion.move(from: 0, to: 5)).degrees - 0.001) < 1e-9)
    #expect(motion.move(from: 0, to: 4) == nil)
    #expect(motion.hasPose(2) && !motion.hasPose(4) && motion.hasPoses && !motion.hasGyroscope)
  }

  @Test("Poses that are no number are none")
  func notFinite() {
    let motion = FrameMotion(
      poses: [
        0: pose(0), 1: pose(0, at: [.nan, 0, 0]), 2: pose(0, at: [.infinity, 0, 0]),
        3: Pose(position: [0, 0, 0], orientation: Quaternion(x: 0, y: 0, z: 0, w: 0)),
      ], times: [], gyroscope: nil)
    for frame in 1...3 {
      #expect(motion.move(from: 0, to: frame) == nil, "\(frame)")
      #expect(motion.move(from: frame, to: 0) == nil, "\(frame)")
    }
  }

  @Test("By the gyroscope it is the integral of the readings, also between readings")
  func turns() throws {
    let motion = FrameMotion(
      poses: [:], times: times([0, 0.1, nil, 0.255, 0.255]), gyroscope: gyroscope((0, 1)))
    #expect(try degrees(motion, 0, 1, after: 0.1) < 1e-6)
    #expect(try degrees(motion, 0, 3, after: 0.255) < 1e-6)
    #expect(try degrees(motion, 3, 1, after: 0.155) < 1e-6)
    #expect(try degrees(motion, 3, 4, after: 0) < 1e-9)
    #expect(motion.turn(from: 0, to: 2) == nil)
    #expect(!motion.hasPoses && motion.hasGyroscope)
  }

  @Test("What lies on both sides of a gap of the readings, or outside of them, is not compared")
  func gaps() throws {
    let motion = FrameMotion(
      poses: [:], times: times([0.1, 0.2, 0.45, 0.6, 0.7, 5]),
      gyroscope: gyroscope((0, 0.3), (0.5, 1)))
    #expect(motion.turn(from: 0, to: 1) != nil && motion.turn(from: 3, to: 4) != nil)
    for (first, second) in [(0, 2), (1, 3), (0, 4), (2, 3), (4, 5)] {
      #expect(motion.turn(from: first, to: second) == nil, "\(first) \(second)")
    }
    // Times that go back begin a part of their own.
    let back = FrameMotion(
      poses: [:], times: times([0.2, 0.1, 0.3]), gyroscope: gyroscope((0, 1)))
    #expect(back.turn(from: 0, to: 1) == nil)
    #expect(try degrees(back, 1, 2, after: 0.2) < 1e-6)
  }

  @Test("Without frames, poses and readings nothing is known")
  func nothing() {
    let motion = FrameMotion(poses: [:], times: [], gyroscope: gyroscope((0, 1)))
    #expect(!motion.hasPoses && !motion.hasGyroscope)
    #expect(motion.move(from: 0, to: 0) == nil && motion.turn(from: 0, to: 0) == nil)
  }

  @Test("One rotation after another is their product, and the inverse takes it back")
  func quaternions() {
    let a = Quaternion(x: 0.1, y: -0.5, z: 0.5, w: 0.7)
    let b = Quaternion(x: 0.5, y: 0.5, z: -0.5, w: 0.5)
    let both = a.then(b)
    // Row-major product of the matrices, by hand.
    let (m, n, found) = (a.rotation, b.rotation, both.rotation)
    for row in 0..<3 {
      for column in 0..<3 {
        var sum = 0.0
        for k in 0..<3 { sum += m[3 * row + k] * n[3 * k + column] }
        #expect(abs(found[3 * row + column] - sum) < 1e-12)
      }
    }
    let back = both.then(both.inverse)
    #expect(abs(back.w - 1) < 1e-12 && abs(back.x) + abs(back.y) + abs(back.z) < 1e-12)
  }
}

@Suite("Groups of frames in which the camera hardly moves")
struct MotionGroupingTests {
  private static let limits = MotionGrouping.Limits(degrees: 10, meters: 0.5, levels: 8)

  /// A camera that is at `meters` along x at each frame; `nil` = no pose.
  private func motion(_ meters: [Double?]) -> FrameMotion {
    var poses: [Int: Pose] = [:]
    for (frame, x) in meters.enumerated() {
      poses[frame] = x.map {
        Pose(position: [$0, 0, 0], orientation: Quaternion(x: 0, y: 0, z: 0, w: 1))
      }
    }
    return FrameMotion(poses: poses, times: [], gyroscope: nil)
  }

  /// An outline of one level, but for its first value.
  private func outline(_ first: UInt8, _ others: UInt8 = 100, size: Int = 4) -> PictureOutline {
    var values = [UInt8](repeating: others, count: size)
    values[0] = first
    return PictureOutline(values: values, width: size, height: 1)
  }

  private func steps(
    _ motion: FrameMotion, _ outlines: [PictureOutline?], limits: MotionGrouping.Limits = limits
  ) -> (steps: [MotionGrouping.Step], compared: [PickMeans: Int]) {
    var grouping = MotionGrouping(motion, limits)
    let steps = outlines.enumerated().map { grouping.take($0.offset, $0.element) }
    return (steps, grouping.compared)
  }

  @Test("A group ends before the first frame that is farther from its first one than the limit")
  func distance() {
    // From 0: 0.5 is not above the limit, 0.6 is; from there 1.0 is not, 1.2 is.
    let found = steps(motion([0, 0.3, 0.5, 0.6, 1.0, 1.2, 0.6]), Array(repeating: nil, count: 7))
    #expect(
      found.steps == [
        .begins(.start), .stays, .stays, .begins(.poses), .stays, .begins(.poses), .begins(.poses),
      ])
    #expect(found.compared == [.poses: 6])
  }

  @Test(
    "Small steps add up: it is the first frame of the group that is compared, not the one before")
  func drift() {
    let found = steps(motion((0..<13).map { Double($0) * 0.125 }), Array(repeating: nil, count: 13))
    let begins = found.steps.indices.filter { found.steps[$0] != .stays }
    #expect(begins == [0, 5, 10])
  }

  @Test("No frame makes no group, one frame one")
  func few() {
    #expect(steps(motion([]), []).steps.isEmpty)
    let one = steps(motion([3]), [nil])
    #expect(one.steps == [.begins(.start)] && one.compared.isEmpty)
  }

  @Test("A frame without pose is compared by its picture, and nothing is noted without one")
  func pictures() {
    let (same, changed) = (outline(100), outline(200))
    // The mean absolute difference after equal means: (75 + 3 · 25) / 4 = 37.5.
    #expect(same.change(to: changed) == 37.5)
    let found = steps(motion([0, nil, nil, 0.1, nil]), [same, same, changed, same, same])
    // Frame 3 has a pose and its group none: pictures again.
    #expect(
      found.steps == [
        .begins(.start), .stays, .begins(.pictures), .begins(.pictures), .stays,
      ])
    #expect(found.compared == [.pictures: 4])
    var grouping = MotionGrouping(motion([0, nil]), Self.limits)
    _ = grouping.take(0, same)
    #expect(grouping.take(1, nil) == .needsPicture && grouping.compared.isEmpty)
    #expect(grouping.take(1, same) == .stays)
  }

  @Test("Pictures of different sizes show different things")
  func sizes() {
    let found = steps(motion([nil, nil]), [outline(100), outline(100, size: 5)])
    #expect(found.steps == [.begins(.start), .begins(.pictures)])
    #expect(outline(100).change(to: outline(100, size: 5)) == nil)
  }

  @Test("Brighter as a whole is no change; one value of four that moves by d changes by 3d/8")
  func change() {
    #expect(outline(50, 50).change(to: outline(90, 90)) == 0)
    for difference in [1, 8, 100] as [UInt8] {
      let changed = outline(100 + difference)
      #expect(outline(100).change(to: changed) == Double(difference) * 3 / 8)
      #expect(changed.change(to: outline(100)) == Double(difference) * 3 / 8)
    }
    #expect(outline(7).change(to: outline(7)) == 0)
  }

  @Test("Poses that are no number do not count as poses")
  func notFinite() {
    let found = steps(motion([0, .nan, 9]), [outline(100), outline(100), outline(100)])
    #expect(found.steps == [.begins(.start), .stays, .begins(.poses)])
    #expect(found.compared == [.pictures: 1, .poses: 1])
  }
}

@Suite("The best frame of each group")
struct GroupPickerTests {
  /// A picture whose sharpness grows with `contrast`.
  private func sharpness(_ contrast: UInt8) -> Sharpness {
    let gray = (0..<25).map { $0 % 2 == 0 ? UInt8(0) : contrast }
    return Sharpness(gray: gray, width: 5, height: 5)
  }

  private func rank(_ contrast: UInt8, isWhole: Bool = true, isPlaced: Bool = true) -> FrameRank {
    FrameRank(isWhole: isWhole, isPlaced: isPlaced, sharpness: sharpness(contrast))
  }

  private func picked(
    _ frames: [(frame: Int, begins: PickMeans?, rank: FrameRank)]
  ) -> [PickedFrame<String>] {
    var picker = GroupPicker<String>()
    var picked: [PickedFrame<String>] = []
    for (frame, begins, rank) in frames {
      if let found = picker.take(frame, begins: begins, rank, "\(frame)") { picked.append(found) }
    }
    if let last = picker.finish() { picked.append(last) }
    #expect(picker.finish() == nil)
    return picked
  }

  @Test("The sharpest of each group, with the ends of the group and how many pictures it had")
  func groups() {
    let found = picked([
      (0, .start, rank(10)), (1, nil, rank(30)), (4, nil, rank(20)), (5, .count, rank(5)),
      (9, nil, rank(4)), (10, .poses, rank(1)),
    ])
    #expect(found.map(\.frame) == [1, 5, 10])
    #expect(found.map(\.payload) == ["1", "5", "10"])
    #expect(found.map(\.first) == [0, 5, 10] && found.map(\.last) == [4, 9, 10])
    #expect(found.map(\.pictures) == [3, 2, 1])
    #expect(found.map(\.begun) == [.start, .count, .poses])
  }

  @Test("Of equal ones it is the earliest")
  func equal() {
    #expect(picked((2..<7).map { ($0, nil, rank(9)) }).map(\.frame) == [2])
  }

  @Test("A whole picture goes before a sharper damaged one, and a pose before sharpness")
  func ranks() {
    let all = [
      rank(200, isWhole: false, isPlaced: false), rank(10, isWhole: false),
      rank(250, isPlaced: false), rank(5), rank(6),
    ]
    #expect(zip(all, all.dropFirst()).allSatisfy { $0 < $1 && !($1 < $0) })
    #expect(picked(all.enumerated().map { ($0.offset, nil, $0.element) }).map(\.frame) == [4])
  }

  @Test("No frame gives none; one frame itself, whatever it says of its group")
  func few() {
    #expect(picked([]).isEmpty)
    let one = picked([(7, nil, rank(0))])
    #expect(one.map(\.frame) == [7] && one[0].begun == .start)
  }

  @Test("As the plain rule over lists: the first of the highest rank between two beginnings")
  func plain() {
    var random = SeededGenerator(seed: 5)
    for _ in 0..<50 {
      let frames = (0..<Int.random(in: 1...40, using: &random)).map { frame in
        (
          frame: frame * 3, begins: random.chance(4) ? PickMeans.count : nil,
          rank: rank(
            UInt8.random(in: 0...4, using: &random), isWhole: !random.chance(3),
            isPlaced: !random.chance(3))
        )
      }
      var groups: [[(frame: Int, rank: FrameRank)]] = []
      for (frame, begins, rank) in frames {
        if begins != nil || groups.isEmpty { groups.append([]) }
        groups[groups.count - 1].append((frame, rank))
      }
      let expected = groups.map { group in
        group.first { one in !group.contains { one.rank < $0.rank } }?.frame
      }
      #expect(picked(frames).map(\.frame) == expected)
    }
  }
}

@Suite("Even windows")
struct EvenWindowsTests {
  @Test(
    "m things are cut into count windows, from ⌊k·m/count⌋ to ⌊(k+1)·m/count⌋ - 1",
    arguments: [
      (10, 4, [0..<2, 2..<5, 5..<7, 7..<10]), (3, 3, [0..<1, 1..<2, 2..<3]),
      (2, 5, [0..<1, 1..<2]), (7, 1, [0..<7]), (1, .max, [0..<1]), (0, 3, []), (3, 0, []),
    ] as [(Int, Int, [Range<Int>])])
  func windows(m: Int, count: Int, expected: [Range<Int>]) {
    #expect(evenWindows(of: m, count: count) == expected)
  }
}

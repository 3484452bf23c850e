import Foundation
@testable import Core
import Testing

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
      ], times: [], gyroscope: nil)
    let first = try #require(motion.move(from: 0, to: 1))
    #expect(abs(first.degrees - 30) < 1e-9 && abs(first.meters - 13) < 1e-12)
    // The shorter way, and the same both ways.
    #expect(abs(try #require(motion.move(from: 0, to: 2)).degrees - 180) < 1e-6)
    let across = try #require(motion.move(from: 0, to: 3)).degrees
    // cos(half) of the product of turns of 90° and 10° about axes at right angles.
    #expect(abs(across - 2 * acos(cos(.pi / 4) * cos(.pi / 36)) * 180 / .pi) < 1e-9)
    #expect(abs(try #require(motion.move(from: 3, to: 0)).degrees - across) < 1e-9)
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
    let (a, b) = (pose(50, axis: 0).orientation, pose(70, axis: 2).orientation)
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

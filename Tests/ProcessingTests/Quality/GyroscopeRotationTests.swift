import Foundation
@testable import Core
@testable import Processing
import Testing

@Suite("Rotation by the gyroscope, and by poses")
struct GyroscopeRotationTests {
  /// Readings every 10 ms from 0 to 1 s.
  private func recording(
    leaving out: Range<Int> = 0..<0, _ rate: (_ seconds: Double) -> (Double, Double, Double)
  ) -> GyroscopeRotation {
    GyroscopeRotation(
      (0...100).filter { !out.contains($0) }.map { index in
        let (x, y, z) = rate(Double(index) / 100)
        return IMUSample(
          timestamp: Timestamp(nanoseconds: Int64(index) * 10_000_000), sensor: 0, x: x, y: y, z: z)
      }, longestStepNanoseconds: 50_000_000)
  }

  private func time(_ seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: Int64(seconds * 1e9))
  }

  @Test("A constant rate gives rate × time, between readings too, whatever the axis")
  func constant() throws {
    for axis in [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.6, 0.0, -0.8)] {
      let turning = recording { _ in (axis.0 * 2, axis.1 * 2, axis.2 * 2) }
      let degrees = try #require(turning.degrees(from: time(0.123), to: time(0.623)))
      #expect(abs(degrees - 180 / .pi) < 1e-6)
      #expect(abs(try #require(turning.speed(at: time(0.5037))) - 2) < 1e-12)
    }
  }

  @Test("A rate that rises evenly gives its mean")
  func rising() throws {
    let degrees = try #require(recording { (0, $0, 0) }.degrees(from: time(0), to: time(1)))
    #expect(abs(degrees - 0.5 * 180 / .pi) < 1e-6)
  }

  @Test("A turn and its way back give nothing")
  func back() throws {
    let swinging = recording { $0 < 0.5 ? (0, 1, 0) : $0 > 0.5 ? (0, -1, 0) : (0, 0, 0) }
    #expect(try #require(swinging.degrees(from: time(0), to: time(1))) < 1e-9)
  }

  @Test(
    "What is turned in an exposure is the integral around its middle, there and back counted both")
  func travel() throws {
    let rising = recording { ($0, 0, 0) }
    #expect(abs(try #require(rising.travel(around: time(0.5037), seconds: 0.1)) - 0.05037) < 1e-9)
    let turned = recording { $0 < 0.5 ? (0, 1, 0) : $0 > 0.5 ? (0, -1, 0) : (0, 0, 0) }
    // The reading of 0 in the middle takes 10 ms away.
    #expect(abs(try #require(turned.travel(around: time(0.5), seconds: 0.2)) - 0.19) < 1e-9)
    #expect(rising.travel(around: time(0.5), seconds: 0) == 0)
    // At the end only the speed is known.
    #expect(abs(try #require(rising.travel(around: time(0.99), seconds: 0.1)) - 0.099) < 1e-9)
    for seconds in [-0.1, .nan, 11] {
      #expect(rising.travel(around: time(0.5), seconds: seconds) == nil)
    }
    #expect(rising.travel(around: time(2), seconds: 0.1) == nil)
    #expect(rising.travel(around: Timestamp(nanoseconds: .min), seconds: 5) == nil)
  }

  @Test("Nothing is known across a gap, outside of the recording, and backward")
  func unknown() {
    let holed = recording(leaving: 40..<50) { _ in (0, 1, 0) }
    #expect(holed.degrees(from: time(0.3), to: time(0.6)) == nil)
    #expect(holed.degrees(from: time(0.5), to: time(0.6)) != nil)
    #expect(holed.speed(at: time(0.45)) == nil)
    #expect(holed.degrees(from: time(0.9), to: time(1.1)) == nil)
    #expect(holed.degrees(from: time(-0.1), to: time(0.1)) == nil)
    #expect(holed.degrees(from: time(0.2), to: time(0.2)) == nil)
    #expect(holed.degrees(from: time(0.2), to: time(0.1)) == nil)
    #expect(GyroscopeRotation([], longestStepNanoseconds: 1).speed(at: time(0)) == nil)
  }

  @Test(
    "Poses turned by an angle about any axis are that angle apart", arguments: [0.001, 1, 90, 179])
  func poses(degrees: Double) {
    let half = degrees / 360 * Double.pi
    let (s, c) = (sin(half), cos(half))
    let start = Pose(position: [1, 2, 3], orientation: Quaternion(x: 0.1, y: -0.5, z: 0.3, w: 0.8))
    let q = start.orientation
    // start · turn about (0.6, 0, 0.8)
    let (x, y, z, w) = (0.6 * s, 0.0, 0.8 * s, c)
    let turned = Pose(
      position: [0, 0, 0],
      orientation: Quaternion(
        x: q.w * x + q.x * w + q.y * z - q.z * y, y: q.w * y - q.x * z + q.y * w + q.z * x,
        z: q.w * z + q.x * y - q.y * x + q.z * w, w: q.w * w - q.x * x - q.y * y - q.z * z))
    #expect(abs(start.rotationDegrees(to: turned) - degrees) < 1e-9 * max(1, degrees))
    #expect(abs(turned.rotationDegrees(to: start) - degrees) < 1e-9 * max(1, degrees))
  }
}

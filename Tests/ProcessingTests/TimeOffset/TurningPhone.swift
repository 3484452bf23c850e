import Foundation
import Glibc
import Testing

@testable import Core
@testable import Processing
@testable import Synthetic

/// A phone that moves like those of the synthesizer: poses of its camera and readings of its gyroscope,
/// whose clock is ahead by a known offset.
struct TurningPhone {
  var seed: UInt64 = 1
  var seconds = 10.0
  var framesPerSecond = 60.0
  var samplesPerSecond = 99.8
  var offsetSeconds = 0.0
  /// Noise of both sensors: 1 = that of a phone.
  var noise = 1.0
  /// How much of the rotation is there.
  var extent = 1.0
  /// Where the motion begins, seconds.
  private let origin = 100.0

  private var motion: CameraMotion {
    CameraMotion(seed: seed, center: Room.cameraCenter, reach: Room.cameraReach)
  }

  private func timestamp(_ seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: Int64(((origin + seconds) * 1e9).rounded()))
  }

  /// Since the beginning.
  func seconds(of time: Timestamp) -> Double { Double(time.nanoseconds) / 1e9 - origin }

  /// The frame times, seconds from the beginning.
  var frameSeconds: [Double] {
    let clock = SampleClock(
      startNanoseconds: 0, rate: framesPerSecond, jitterSeconds: 0.000_5, seed: seed, "frames")
    return (0..<Int(seconds * framesPerSecond)).map { Double(clock.nanoseconds(of: $0)) / 1e9 }
  }

  /// Rotations from frame to frame.
  func turns(_ frames: [Double]? = nil) -> [CameraTurn] {
    let frames = frames ?? frameSeconds
    var random = SeededRandom(seed: seed, "poses")
    let poses = frames.map { time in
      // Tracking is off by a few tens of microradians from frame to frame.
      let off =
        Matrix3.aboutX(random.gaussian() * 3e-5 * noise)
        * Matrix3.aboutY(random.gaussian() * 3e-5 * noise)
      let turn = motion.state(at: extent * time).worldFromCamera * off
      return Pose(rotation: turn.rowMajor, position: [0, 0, 0])
    }
    return frames.indices.dropFirst().compactMap { index in
      guard let before = poses[index - 1], let pose = poses[index] else { return nil }
      return CameraTurn(
        from: before, at: timestamp(frames[index - 1]), to: pose, at: timestamp(frames[index]))
    }
  }

  /// Readings, which begin and end a little before and after the frames.
  ///
  /// - Parameters:
  ///   - offset: that of each time in seconds, if it changes.
  ///   - times: in seconds, if they are not those of a clock.
  func samples(offset: ((Double) -> Double)? = nil, at times: [Double]? = nil) -> [IMUSample] {
    var sensors = InertialSensors(motion: motion, noise: noise, offsetSeconds: 0, seed: seed)
    let clock = SampleClock(
      startNanoseconds: 0, rate: samplesPerSecond, jitterSeconds: 0.000_5, seed: seed, "motion")
    let times =
      times
      ?? (-10..<Int(seconds * samplesPerSecond) + 10).map {
        Double(clock.nanoseconds(of: $0)) / 1e9
      }
    return times.map { time in
      let moment = time - (offset?(time) ?? offsetSeconds)
      let reading = sensors.sample(at: extent * moment).gyroscope
      return IMUSample(
        timestamp: timestamp(time), sensor: 0, x: reading.x * extent, y: reading.y * extent,
        z: reading.z * extent)
    }
  }

  func gyroscope(_ samples: [IMUSample]? = nil) -> GyroscopeIntegral {
    GyroscopeIntegral(samples ?? self.samples(), longestStepNanoseconds: 50_000_000)
  }

  func search() -> TimeOffsetSearch {
    TimeOffsetEstimator(searchNanoseconds: 500_000_000).search(turns(), gyroscope())
  }
}

@Suite("The rotation of a camera between two pictures")
struct PictureRotationTests {
  private static let size = (width: 320, height: 240)
  private static let focalLength = 250.0

  /// A smooth pattern far away, as a camera sees it that is turned by axis times angle.
  private static func picture(turned: SIMD3<Double>, gain: Double = 1) throws -> SmallPicture {
    let angle = (turned * turned).sum().squareRoot()
    let axis = angle > 0 ? turned / angle : SIMD3(0, 0, 1)
    var rgb: [UInt8] = []
    for row in 0..<size.height {
      for column in 0..<size.width {
        let ray = SIMD3(
          (Double(column) - Double(size.width - 1) / 2) / focalLength,
          (Double(row) - Double(size.height - 1) / 2) / focalLength, 1)
        // To the world: by the rotation of the camera.
        let seen =
          ray * cos(angle) + cross(axis, ray) * sin(angle)
          + axis * ((axis * ray).sum() * (1 - cos(angle)))
        let (x, y) = (seen.x / seen.z, seen.y / seen.z)
        let value =
          128 + gain
          * (40 * sin(9 * x + 2 * y) + 30 * sin(13 * y - 4 * x) + 20 * sin(21 * x * y + 5))
        let level = UInt8(min(255, max(0, value.rounded())))
        rgb += [level, level, level]
      }
    }
    return try #require(SmallPicture(rgb: rgb, width: size.width, height: size.height))
  }

  private static func cross(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> SIMD3<Double> {
    SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
  }

  @Test(
    "It is found about every axis and with its sign, for small and large angles",
    arguments: [
      SIMD3(0.002, 0, 0), SIMD3(0, -0.002, 0), SIMD3(0, 0, 0.004), SIMD3(0.03, -0.02, 0.05),
      SIMD3(-0.08, 0.06, -0.04), SIMD3(0.0003, 0.0002, -0.0004),
    ])
  func angles(turn: SIMD3<Double>) throws {
    let (first, second) = try (Self.picture(turned: .zero), Self.picture(turned: turn))
    let found = try #require(
      CameraTurn(
        from: first, at: Timestamp(nanoseconds: 0), to: second,
        at: Timestamp(nanoseconds: 1_000_000_000), focalLength: Self.focalLength))
    let rest = found.rate - turn
    let length = (turn * turn).sum().squareRoot()
    #expect((rest * rest).sum().squareRoot() < 0.0001 + 0.02 * length, "\(found.rate)")
  }

  @Test("Brightness and contrast may change between the two")
  func brightness() throws {
    let turn = SIMD3(0.004, 0.003, -0.005)
    let found = try #require(
      Self.picture(turned: .zero).rotation(
        to: Self.picture(turned: turn, gain: 0.6), focalLength: Float(Self.focalLength / 4)))
    let rest = SIMD3<Double>(found) - turn
    #expect((rest * rest).sum().squareRoot() < 0.0004)
  }

  @Test("Pictures without contrast, of other sizes or of something else give none")
  func nothing() throws {
    let flat = [UInt8](repeating: 90, count: 320 * 240 * 3)
    #expect(SmallPicture(rgb: flat, width: 320, height: 240) == nil)
    #expect(SmallPicture(rgb: flat, width: 320, height: 241) == nil)
    #expect(SmallPicture(rgb: [1, 2, 3], width: 1, height: 1) == nil)
    #expect(SmallPicture(rgb: [], width: 0, height: 0) == nil)
    let picture = try Self.picture(turned: .zero)
    var random = SeededRandom(seed: 5, "noise")
    let noise = (0..<(320 * 240 * 3)).map { _ in UInt8(random.uniform(0...255)) }
    let other = try #require(SmallPicture(rgb: noise, width: 320, height: 240))
    #expect(picture.rotation(to: other, focalLength: 60) == nil)
    let small = try #require(
      SmallPicture(rgb: Array(noise.prefix(40 * 30 * 3)), width: 40, height: 30))
    #expect(picture.rotation(to: small, focalLength: 60) == nil)
    #expect(picture.rotation(to: picture, focalLength: 0) == nil)
    #expect(picture.rotation(to: picture, focalLength: .nan) == nil)
  }
}

@Suite("Rotation by the gyroscope")
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
}

import Core
import Glibc

/// How far a gyroscope says that the device turned.
///
/// Angles do not depend on the axes of the sensor, so they compare with those of poses of any camera
/// that is fixed to the device.
public struct GyroscopeRotation: Sendable {
  /// Readings in rad/s, by time.
  private let samples: [IMUSample]
  private let longestStepNanoseconds: Int64

  /// - Parameters:
  ///   - samples: readings of one gyroscope, by time, rad/s.
  ///   - longestStepNanoseconds: nothing is known between readings farther apart.
  public init(_ samples: [IMUSample], longestStepNanoseconds: Int64) {
    self.samples = samples
    self.longestStepNanoseconds = longestStepNanoseconds
  }

  /// The angle between the attitudes at two times, degrees, 0…180: the integral of the readings,
  /// linear between two of them. `nil` if `end` is not after `start`, or if the readings do not cover
  /// the time without a gap. Cost: a search and the readings in between.
  public func degrees(from start: Timestamp, to end: Timestamp) -> Double? {
    attitude(from: start, to: end).map { quaternionDegrees(w: $0.w, SIMD3($0.x, $0.y, $0.z)) }
  }

  /// The attitude at `end` by the axes of the device at `start`; `nil` as for `degrees(from:to:)`. Not
  /// finite for readings too large to be true.
  public func rotation(from start: Timestamp, to end: Timestamp) -> Quaternion? {
    attitude(from: start, to: end).map { Quaternion(x: $0.x, y: $0.y, z: $0.z, w: $0.w) }
  }

  private func attitude(
    from start: Timestamp, to end: Timestamp
  ) -> (w: Double, x: Double, y: Double, z: Double)? {
    guard start < end, var index = last(notAfter: start) else { return nil }
    var attitude = (w: 1.0, x: 0.0, y: 0.0, z: 0.0)
    var time = start
    while time < end {
      guard let step = step(after: index) else { return nil }
      let until = min(end, samples[index + 1].timestamp)
      if until > time {
        // The reading in the middle of the part is the mean of a linear course.
        let middle = Double(time - samples[index].timestamp + (until - time) / 2) / step
        let rate = mix(index, middle)
        attitude = Self.turned(attitude, by: rate, seconds: Double(until - time) / 1e9)
      }
      time = until
      index += 1
    }
    return attitude
  }

  /// The speed of rotation at a time, rad/s; `nil` in a gap and outside of the recording.
  func speed(at time: Timestamp) -> Double? {
    guard let index = last(notAfter: time) else { return nil }
    if samples[index].timestamp == time { return length(mix(index, 0)) }
    guard let step = step(after: index) else { return nil }
    return length(mix(index, Double(time - samples[index].timestamp) / step))
  }

  /// By how many radians the device turned in an exposure with its middle at a time, there and back counted both: the
  /// integral of the speed. Where the readings cover only the middle, their speed there times the exposure. `nil` in a
  /// gap and outside of the recording, and for an exposure that is none (negative, or above ten seconds).
  public func travel(around time: Timestamp, seconds: Double) -> Double? {
    guard (0...10).contains(seconds), let speed = speed(at: time) else { return nil }
    return integral(around: time, halfNanoseconds: Int64(seconds * 5e8)) ?? speed * seconds
  }

  private func integral(around time: Timestamp, halfNanoseconds half: Int64) -> Double? {
    let (first, isBefore) = time.nanoseconds.subtractingReportingOverflow(half)
    let (last, isAfter) = time.nanoseconds.addingReportingOverflow(half)
    guard !isBefore, !isAfter else { return nil }
    let (start, end) = (Timestamp(nanoseconds: first), Timestamp(nanoseconds: last))
    guard start < end, var index = self.last(notAfter: start) else { return nil }
    var angle = 0.0
    var now = start
    while now < end {
      guard let step = step(after: index) else { return nil }
      let until = min(end, samples[index + 1].timestamp)
      func rate(_ time: Timestamp) -> Double {
        length(mix(index, Double(time - samples[index].timestamp) / step))
      }
      angle += (rate(now) + rate(until)) / 2 * Double(until - now) / 1e9
      now = until
      index += 1
    }
    return angle
  }

  private func length(_ v: (x: Double, y: Double, z: Double)) -> Double {
    (v.x * v.x + v.y * v.y + v.z * v.z).squareRoot()
  }

  /// Nanoseconds to the next reading, if there is one and no gap before it.
  private func step(after index: Int) -> Double? {
    guard index + 1 < samples.count else { return nil }
    let step = samples[index + 1].timestamp - samples[index].timestamp
    return step > 0 && step <= longestStepNanoseconds ? Double(step) : nil
  }

  private func mix(_ index: Int, _ part: Double) -> (x: Double, y: Double, z: Double) {
    let a = samples[index]
    guard part > 0, index + 1 < samples.count else { return (a.x, a.y, a.z) }
    let b = samples[index + 1]
    return (a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part, a.z + (b.z - a.z) * part)
  }

  /// The last reading at or before a time.
  private func last(notAfter time: Timestamp) -> Int? {
    let next = samples.partitioningIndex { $0.timestamp > time }
    return next > 0 ? next - 1 : nil
  }

  /// The attitude after a turn at a constant rate.
  private static func turned(
    _ q: (w: Double, x: Double, y: Double, z: Double), by rate: (x: Double, y: Double, z: Double),
    seconds: Double
  ) -> (w: Double, x: Double, y: Double, z: Double) {
    let (x, y, z) = (rate.x * seconds / 2, rate.y * seconds / 2, rate.z * seconds / 2)
    let half = (x * x + y * y + z * z).squareRoot()
    // sin(a)/a, by its series where the division loses digits.
    let scale = half < 1e-4 ? 1 - half * half / 6 : sin(half) / half
    let (c, a, b, d) = (cos(half), x * scale, y * scale, z * scale)
    return (
      q.w * c - q.x * a - q.y * b - q.z * d, q.w * a + q.x * c + q.y * d - q.z * b,
      q.w * b - q.x * d + q.y * c + q.z * a, q.w * d + q.x * b - q.y * a + q.z * c
    )
  }
}

/// The angle of the rotation of a quaternion, which need not be normalized: degrees, 0…180. Accurate for small ones.
func quaternionDegrees(w: Double, _ v: SIMD3<Double>) -> Double {
  2 * atan2((v * v).sum().squareRoot(), abs(w)) * 180 / .pi
}

extension Pose {
  /// The angle by which the camera turned from this pose to another: degrees, 0…180.
  public func rotationDegrees(to other: Pose) -> Double {
    let (w, v) = rotation(to: other)
    return quaternionDegrees(w: w, v)
  }

  /// The rotation from this pose to another, in axes of the camera: the product of quaternions a⁻¹ · b, as its real part
  /// and its vector.
  func rotation(to other: Pose) -> (w: Double, v: SIMD3<Double>) {
    let (a, b) = (orientation, other.orientation)
    return (
      a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z,
      SIMD3(
        a.w * b.x - a.x * b.w - a.y * b.z + a.z * b.y,
        a.w * b.y + a.x * b.z - a.y * b.w - a.z * b.x,
        a.w * b.z - a.x * b.y + a.y * b.x - a.z * b.w)
    )
  }
}

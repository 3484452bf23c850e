import Core
import Glibc

/// The running integral of a gyroscope's readings, from which the mean angular velocity between any two
/// times follows.
///
/// Readings are joined by a natural cubic spline within each stretch without gaps. Straight lines cut the
/// peaks of a hand's tremor, at 9 Hz and 30 readings a second by a third, always at the same places where
/// readings and pictures have a common rhythm: that moves the offset, by 0.35 ms for one app, however long the
/// recording is. Where steps are very uneven lines are straight, since a curve through two noisy readings that
/// are close together would swing far beyond both.
///
/// The integral is that of the vector: over a frame the order of turns changes it by less than the noise of a
/// phone's gyroscope.
public struct GyroscopeIntegral: Sendable {
  /// The integral at one time, and the stretch without gaps in which the time lies.
  struct Point {
    /// Radians.
    var sum: SIMD3<Double>
    /// `nil` outside of the readings and in their gaps.
    var stretch: Int?
  }

  /// Ascending.
  private let times: [Timestamp]
  /// rad/s.
  private let rates: [SIMD3<Double>]
  /// Second derivatives of the spline, rad/s³.
  private let bends: [SIMD3<Double>]
  /// Radians from the first reading to each.
  private let sums: [SIMD3<Double>]
  /// The stretch of each reading, counted from 0.
  private let stretches: [Int]
  /// The largest angular velocity of any reading, rad/s; 0 without readings.
  let largestSpeed: Double

  /// - Parameters:
  ///   - samples: readings of one gyroscope by time, rad/s. Values that are not finite are left out, and so
  ///     are readings that are not later than the one before.
  ///   - longestStepNanoseconds: nothing is known between readings farther apart.
  ///
  /// Cost: one pass.
  public init(_ samples: [IMUSample], longestStepNanoseconds: Int64) {
    var times: [Timestamp] = []
    var rates: [SIMD3<Double>] = []
    var stretches: [Int] = []
    var largest = 0.0
    for sample in samples {
      let rate = SIMD3(sample.x, sample.y, sample.z)
      let speed = (rate * rate).sum().squareRoot()
      guard speed.isFinite else { continue }
      if let before = times.last, let stretch = stretches.last {
        let step = sample.timestamp - before
        guard step > 0 else { continue }
        stretches.append(step <= longestStepNanoseconds ? stretch : stretch + 1)
      } else {
        stretches.append(0)
      }
      times.append(sample.timestamp)
      rates.append(rate)
      largest = max(largest, speed)
    }
    let steps = zip(times, times.dropFirst()).map { Double($1 - $0) / 1e9 }
    let bends = Self.bends(steps, rates, stretches)
    var sum = SIMD3<Double>.zero
    var sums = times.isEmpty ? [] : [sum]
    sums.reserveCapacity(times.count)
    for (index, step) in steps.enumerated() {
      sum += (rates[index] + rates[index + 1]) * (step / 2)
      if stretches[index] == stretches[index + 1] {
        sum -= (bends[index] + bends[index + 1]) * (step * step * step / 24)
      }
      sums.append(sum)
    }
    self.times = times
    self.rates = rates
    self.bends = bends
    self.sums = sums
    self.stretches = stretches
    largestSpeed = largest
  }

  /// The second derivatives of the natural spline through the readings of each stretch; zero at its ends and
  /// where one of two neighboring steps is more than eight times the other. Thomas's method, one pass each way.
  ///
  /// - Parameter steps: seconds from each reading to the next.
  private static func bends(
    _ steps: [Double], _ rates: [SIMD3<Double>], _ stretches: [Int]
  ) -> [SIMD3<Double>] {
    var bends = [SIMD3<Double>](repeating: .zero, count: rates.count)
    var factors = [Double](repeating: 0, count: rates.count)
    for index in bends.indices.dropFirst().dropLast() {
      let (before, after) = (steps[index - 1], steps[index])
      guard stretches[index - 1] == stretches[index + 1],
        max(before, after) <= 8 * min(before, after)
      else { continue }
      let change =
        (rates[index + 1] - rates[index]) / after - (rates[index] - rates[index - 1]) / before
      let pivot = 2 * (before + after) - before * factors[index - 1]
      factors[index] = after / pivot
      bends[index] = (change * 6 - bends[index - 1] * before) / pivot
    }
    for index in bends.indices.dropLast().reversed() {
      bends[index] -= bends[index + 1] * factors[index]
    }
    return bends
  }

  public var count: Int { times.count }

  /// The integral at times plus a shift.
  ///
  /// - Parameter moments: in about ascending order.
  ///
  /// Cost: one pass over moments and readings.
  func points(at moments: [Timestamp], shiftedBy shift: Int64) -> [Point] {
    var points: [Point] = []
    points.reserveCapacity(moments.count)
    var next = 0
    for moment in moments {
      let time = moment.advanced(byNanoseconds: shift)
      while next < times.count, times[next] <= time { next += 1 }
      while next > 0, times[next - 1] > time { next -= 1 }
      points.append(point(at: time, after: next - 1))
    }
    return points
  }

  /// - Parameter index: the last reading that is not after `time`; -1 if there is none.
  private func point(at time: Timestamp, after index: Int) -> Point {
    guard index >= 0 else { return Point(sum: .zero, stretch: nil) }
    let passed = time - times[index]
    if passed == 0 { return Point(sum: sums[index], stretch: stretches[index]) }
    guard index + 1 < times.count, stretches[index] == stretches[index + 1] else {
      return Point(sum: .zero, stretch: nil)
    }
    let step = Double(times[index + 1] - times[index]) / 1e9
    let seconds = Double(passed) / 1e9
    let (bend, next) = (bends[index], bends[index + 1])
    let slope = (rates[index + 1] - rates[index]) / step - (bend * 2 + next) * (step / 6)
    let square = seconds * seconds
    let turned =
      rates[index] * seconds + slope * (square / 2) + bend * (square * seconds / 6)
      + (next - bend) * (square * square / (24 * step))
    return Point(sum: sums[index] + turned, stretch: stretches[index])
  }
}

/// How fast a camera turned between two neighboring frames.
public struct CameraTurn: Hashable, Sendable {
  /// Times of the two frames on the clock of the pictures.
  public var start: Timestamp
  public var end: Timestamp
  /// Mean angular velocity in axes of the camera, rad/s.
  public var rate: SIMD3<Double>

  /// `nil` unless `end` is after `start` and all is finite.
  init?(start: Timestamp, end: Timestamp, rate: SIMD3<Double>) {
    guard end > start, (rate * rate).sum().isFinite else { return nil }
    self.start = start
    self.end = end
    self.rate = rate
  }

  /// From the poses of two frames; `nil` likewise.
  public init?(from pose: Pose, at start: Timestamp, to other: Pose, at end: Timestamp) {
    guard end > start else { return nil }
    let seconds = Double(end - start) / 1e9
    self.init(start: start, end: end, rate: pose.rotationVector(to: other) / seconds)
  }

  public var seconds: Double { Double(end - start) / 1e9 }
}

extension Pose {
  /// The rotation from this pose to another, in axes of the camera: axis times angle in radians, by the
  /// shorter way.
  func rotationVector(to other: Pose) -> SIMD3<Double> {
    var (w, v) = rotation(to: other)
    if w < 0 { (w, v) = (-w, -v) }
    let length = (v * v).sum().squareRoot()
    // The quaternions need not be normalized. The angle over its sine is 2 for small ones.
    return length > 1e-12 * w ? v * (2 * atan2(length, w) / length) : v * (2 / max(w, 1e-300))
  }
}

import Geometry

/// The running integral of a gyroscope's readings, from which the mean angular velocity between any two
/// times follows.
///
/// Readings are joined by straight lines. The integral is that of the vector: over a frame the order of
/// turns changes it by less than the noise of a phone's gyroscope.
public struct GyroscopeIntegral: Sendable {
  /// The integral at one time, and the stretch without gaps in which the time lies.
  struct Point: Sendable {
    /// Radians.
    var sum: SIMD3<Double>
    /// `nil` outside of the readings and in their gaps.
    var stretch: Int?
  }

  /// Ascending.
  private let times: [Timestamp]
  /// rad/s.
  private let rates: [SIMD3<Double>]
  /// Radians from the first reading to each.
  private let sums: [SIMD3<Double>]
  /// The stretch of each reading, counted from 0.
  private let stretches: [Int]
  /// The largest angular velocity of any reading, rad/s; 0 without readings.
  public let largestSpeed: Double

  /// - Parameters:
  ///   - samples: readings of one gyroscope by time, rad/s. Values that are not finite are left out, and so
  ///     are readings that are not later than the one before.
  ///   - longestStepNanoseconds: nothing is known between readings farther apart.
  ///
  /// Cost: one pass.
  public init(_ samples: [IMUSample], longestStepNanoseconds: Int64) {
    var times: [Timestamp] = []
    var rates: [SIMD3<Double>] = []
    var sums: [SIMD3<Double>] = []
    var stretches: [Int] = []
    var largest = 0.0
    for sample in samples {
      let rate = SIMD3(sample.x, sample.y, sample.z)
      let speed = (rate * rate).sum().squareRoot()
      guard speed.isFinite else { continue }
      if let before = times.last, let rateBefore = rates.last, let sum = sums.last,
        let stretch = stretches.last
      {
        let step = sample.timestamp - before
        guard step > 0 else { continue }
        sums.append(sum + (rateBefore + rate) * (Double(step) / 2e9))
        stretches.append(step <= longestStepNanoseconds ? stretch : stretch + 1)
      } else {
        sums.append(.zero)
        stretches.append(0)
      }
      times.append(sample.timestamp)
      rates.append(rate)
      largest = max(largest, speed)
    }
    self.times = times
    self.rates = rates
    self.sums = sums
    self.stretches = stretches
    largestSpeed = largest
  }

  public var count: Int { times.count }

  /// The integral at times plus a shift.
  ///
  /// - Parameter moments: ascending.
  ///
  /// Cost: one pass over moments and readings.
  func points(at moments: [Timestamp], shiftedBy shift: Int64) -> [Point] {
    var points: [Point] = []
    points.reserveCapacity(moments.count)
    var next = 0
    for moment in moments {
      let time = moment.advanced(byNanoseconds: shift)
      while next < times.count, times[next] <= time { next += 1 }
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
    let step = Double(times[index + 1] - times[index])
    let seconds = Double(passed) / 1e9
    let slope = (rates[index + 1] - rates[index]) * (Double(passed) / step / 2)
    return Point(sum: sums[index] + (rates[index] + slope) * seconds, stretch: stretches[index])
  }
}

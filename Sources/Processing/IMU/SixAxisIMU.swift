import Core

/// Angular velocity and specific force at the gyroscope's times, as SLAM tools read them.
public struct SixAxisIMU: Sendable {
  /// rad/s and m/s² along device axes; at rest, face up, acceleration z is +9.8.
  public struct Row: Hashable, Sendable {
    public var timestamp: Timestamp
    public var angularVelocity: SIMD3<Double>
    public var specificForce: SIMD3<Double>
  }

  /// Times strictly increasing.
  public var rows: [Row]
  /// Number of gyroscope samples without a row.
  public var leftOut: Int

  /// An acceleration this close to a gyroscope's time is used without interpolation.
  package static let sameTimeNanoseconds: UInt64 = 500
  /// Steps above both this and three times the median are not interpolated across.
  static let leastGapNanoseconds: Int64 = 50_000_000

  /// - Parameters:
  ///   - gyroscope: rad/s, sorted by time.
  ///   - specificForce: m/s², sorted by time, with the sign of `SpecificForce`.
  ///
  /// Nothing is extrapolated: gyroscope samples before the first and after the last acceleration,
  /// and inside its gaps, are left out. Of equal times the first stays. Cost: linear.
  public init(gyroscope: [IMUSample], specificForce: [IMUSample]) {
    rows = []
    rows.reserveCapacity(gyroscope.count)
    let gap = Self.gap(of: specificForce)
    // Index of the last acceleration not after the gyroscope sample.
    var position = -1
    for sample in gyroscope {
      if let last = rows.last, sample.timestamp <= last.timestamp { continue }
      while position + 1 < specificForce.count,
        specificForce[position + 1].timestamp <= sample.timestamp
      { position += 1 }
      guard let force = Self.force(at: sample.timestamp, position, specificForce, gap) else {
        continue
      }
      rows.append(
        Row(
          timestamp: sample.timestamp, angularVelocity: SIMD3(sample.x, sample.y, sample.z),
          specificForce: force))
    }
    leftOut = gyroscope.count - rows.count
  }

  /// The enclosing accelerations are at `position` and the index after it.
  private static func force(
    at time: Timestamp, _ position: Int, _ samples: [IMUSample], _ gap: Int64
  ) -> SIMD3<Double>? {
    let before = position >= 0 ? samples[position] : nil
    let after = position + 1 < samples.count ? samples[position + 1] : nil
    let near = [before, after].compactMap { $0 }
      .map { (distance: ($0.timestamp - time).magnitude, sample: $0) }
      .filter { $0.distance <= sameTimeNanoseconds }
      .min { $0.distance < $1.distance }
    if let near { return SIMD3(near.sample.x, near.sample.y, near.sample.z) }
    guard let before, let after, after.timestamp - before.timestamp <= gap else { return nil }
    let fraction =
      Double(time - before.timestamp) / Double(after.timestamp - before.timestamp)
    return SIMD3(
      before.x + (after.x - before.x) * fraction, before.y + (after.y - before.y) * fraction,
      before.z + (after.z - before.z) * fraction)
  }

  private static func gap(of samples: [IMUSample]) -> Int64 {
    let steps = zip(samples.dropFirst(), samples).map { $0.timestamp - $1.timestamp }
      .filter { $0 > 0 }.sorted()
    guard !steps.isEmpty else { return leastGapNanoseconds }
    let median =
      steps.count % 2 == 1
      ? steps[steps.count / 2]
      : steps[steps.count / 2 - 1] / 2 + steps[steps.count / 2] / 2
    return max(median > .max / 3 ? .max : 3 * median, leastGapNanoseconds)
  }
}

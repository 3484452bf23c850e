import Core

/// Times of a series that lost digits on the way into the file, so that many records share one:
/// `1.017293E+14` for nanoseconds, a `Float` for seconds.
///
/// The records are real, and in the order of the file. They are spread evenly from their stamp up to
/// the next one.
public struct TruncatedTimes: Hashable, Sendable {
  /// A time of a camera or a sensor has microseconds; of times that lost digits all are multiples of
  /// more.
  private static let leastStepNanoseconds: Int64 = 1000

  /// Number of records of the series.
  package let count: Int
  /// What all stamps are multiples of; `nil` if there is nothing like it.
  let stepNanoseconds: Int64?
  /// The median time between neighboring stamps.
  private let stampNanoseconds: Int64

  /// Whether the step is about the time between stamps, as of lost digits. A block of rows that was
  /// written twice has stamps many steps apart.
  var hasCoarseStep: Bool { stepNanoseconds.map { $0 >= stampNanoseconds / 4 } ?? false }

  /// One sentence about the series `name`.
  func words(of name: String) -> String {
    let spread = "; what shares a stamp is spread evenly up to the next one, nothing is dropped"
    guard let stepNanoseconds else {
      return "more than a fifth of the times of the \(name) repeat another" + spread
    }
    return
      "all times of the \(name) are multiples of \(Self.text(stepNanoseconds)): the column lost digits"
      + spread
  }

  /// Whether more than a fifth of `count` records repeat the time of another one.
  private static func isMany(repeated: Int, of count: Int) -> Bool { repeated > count / 5 }

  /// Spreads the times of the sensors that lost digits. `samples` are sorted by time, then sensor,
  /// equal ones in the order of the file; afterward they have to be sorted again. Equal samples at
  /// one time are a block that was written twice and do not tell of lost digits.
  ///
  /// Returns what was found, by sensor. Cost: one pass; more only where many samples repeat a time.
  static func spread(_ samples: inout [IMUSample], sensorCount: Int) -> [Int: TruncatedTimes] {
    var counts = [Int](repeating: 0, count: sensorCount)
    var repeated = counts
    for index in samples.indices {
      let sensor = samples[index].sensor
      counts[sensor] += 1
      if index > 0, samples[index - 1].sensor == sensor,
        samples[index - 1].timestamp == samples[index].timestamp
      {
        repeated[sensor] += 1
      }
    }
    var found: [Int: TruncatedTimes] = [:]
    for sensor in counts.indices where isMany(repeated: repeated[sensor], of: counts[sensor]) {
      let places = samples.indices.filter { samples[$0].sensor == sensor }
      var others = 0
      for group in groups(places.map { samples[$0].timestamp }) where group.count > 1 {
        others += Set(group.map { Values(samples[places[$0]]) }).count - 1
      }
      guard isMany(repeated: others, of: places.count),
        let (times, truncated) = spread(places.map { samples[$0].timestamp })
      else { continue }
      for (place, time) in zip(places, times) { samples[place].timestamp = time }
      found[sensor] = truncated
    }
    return found
  }

  /// Spread times of ascending ones of which more than a fifth repeat another, in the same order, and
  /// what was found; `nil` if they have nothing to be spread over, or if fewer repeat.
  ///
  /// A pause does not stretch the samples before it: no stamp lasts longer than the median one.
  static func spread(_ times: [Timestamp]) -> (times: [Timestamp], found: TruncatedTimes)? {
    let groups = groups(times)
    guard isMany(repeated: times.count - groups.count, of: times.count) else { return nil }
    let stamps = groups.map { times[$0.lowerBound] }
    guard let usual = TimeSteps(stamps).medianNanoseconds, usual > 0 else { return nil }
    var spread = times
    for (index, group) in groups.enumerated() where group.count > 1 {
      let next = index + 1 < stamps.count ? stamps[index + 1] - stamps[index] : usual
      let length = min(next, usual)
      let (whole, rest) = length.quotientAndRemainder(dividingBy: Int64(group.count))
      for (position, place) in group.enumerated() {
        let part = Int64(position)
        spread[place] = stamps[index].advanced(
          byNanoseconds: whole * part + rest * part / Int64(group.count))
      }
    }
    let step = stamps.reduce(Int64(0)) { divisor($0, $1.nanoseconds) }
    return (
      spread,
      TruncatedTimes(
        count: times.count, stepNanoseconds: step >= leastStepNanoseconds ? step : nil,
        stampNanoseconds: usual)
    )
  }

  /// The places of equal neighbors.
  private static func groups(_ times: [Timestamp]) -> [Range<Int>] {
    var groups: [Range<Int>] = []
    var start = 0
    for index in times.indices where index + 1 == times.count || times[index + 1] != times[index] {
      groups.append(start..<index + 1)
      start = index + 1
    }
    return groups
  }

  private static func divisor(_ a: Int64, _ b: Int64) -> Int64 {
    var (a, b) = (a.magnitude, b.magnitude)
    while b != 0 { (a, b) = (b, a % b) }
    return Int64(clamping: a)
  }

  private static func text(_ nanoseconds: Int64) -> String {
    for (unit, name) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "µs")] as [(Int64, String)]
    where nanoseconds % unit == 0 {
      return "\(nanoseconds / unit) \(name)"
    }
    return "\(nanoseconds) ns"
  }

  /// The values of a sample, bit by bit.
  private struct Values: Hashable {
    let x, y, z: UInt64

    init(_ sample: IMUSample) {
      (x, y, z) = (sample.x.bitPattern, sample.y.bitPattern, sample.z.bitPattern)
    }
  }
}

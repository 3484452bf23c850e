import Core
import SystemPackage

/// The plausible times of a file. A time that is far from all others belongs to a damaged record:
/// it must not get a row or shift other rows.
///
/// The rule is the contract's (section 4): more than one hour from the median of the file is
/// implausible. Times that are connected to the median by steps of at most a minute are kept,
/// however long the recording.
public struct TimeBounds: Hashable, Sendable {
  private static let farNanoseconds: Int64 = 3_600_000_000_000
  /// The longest pause after which a recording continues.
  private static let longestPauseNanoseconds: Int64 = 60_000_000_000

  /// `nil` if all times are plausible.
  private let range: ClosedRange<Timestamp>?

  /// From the times of a file in any order. Cost: one sort.
  init(_ times: some Sequence<Timestamp>) {
    let sorted = times.sorted()
    guard !sorted.isEmpty else {
      range = nil
      return
    }
    let middle = (sorted.count - 1) / 2
    func reach(_ indices: some Sequence<Int>) -> Timestamp {
      var last = sorted[middle]
      for index in indices {
        let step = sorted[index] > last ? sorted[index] - last : last - sorted[index]
        if step > Self.longestPauseNanoseconds { break }
        last = sorted[index]
      }
      return last
    }
    let first = reach((0..<middle).reversed())
    let last = reach(middle + 1..<sorted.count)
    range =
      min(
        first, sorted[middle].advanced(byNanoseconds: -Self.farNanoseconds))...max(
        last, sorted[middle].advanced(byNanoseconds: Self.farNanoseconds))
  }

  public func contains(_ time: Timestamp) -> Bool { range?.contains(time) ?? true }
}

/// Finds the time that more than half of a series share, if any (Boyer and Moore's vote), without
/// storing all values.
struct TimeMajority {
  private(set) var candidate: Timestamp?
  private var lead = 0

  mutating func add(_ time: Timestamp) {
    if lead == 0 { candidate = time }
    lead += candidate == time ? 1 : -1
  }

  /// The time that more than half of `times`, and at least two of them, have: their clock did not
  /// advance. `nil` for times that can be used.
  static func stale(_ times: [Timestamp]) -> (time: Timestamp, count: Int)? {
    var majority = TimeMajority()
    for time in times { majority.add(time) }
    guard let candidate = majority.candidate else { return nil }
    let same = times.count { $0 == candidate }
    return same > 1 && same > times.count / 2 ? (candidate, same) : nil
  }

  /// Throws if the clock of a table's rows did not advance.
  static func checkAdvance(
    of times: [Timestamp], in file: FilePath, correction: String
  ) throws(CaptureError) {
    guard let count = stale(times)?.count else { return }
    throw CaptureError(
      file: file,
      problem: "\(count) of \(times.count) rows have the same time: the clock did not advance",
      correction: correction)
  }
}

/// Counts backward steps in a series of times in file order: small ones are disorder, large ones
/// are jumps of the clock.
struct TimeOrder {
  /// Largest backward step that is a swap of neighbors.
  private static let largestDisorderNanoseconds: Int64 = 1_000_000_000
  /// Largest forward step that is a pause.
  private static let largestPauseNanoseconds: Int64 = 60_000_000_000

  private(set) var unordered = 0
  private(set) var jumps = 0
  private var count = 0
  private var last: Timestamp?

  mutating func add(_ time: Timestamp) {
    count += 1
    defer { last = time }
    guard let last else { return }
    let step = time - last
    if step < -Self.largestDisorderNanoseconds || step > Self.largestPauseNanoseconds {
      jumps += 1
    } else if step < 0 {
      unordered += 1
    }
  }

  func report(to warnings: WarningCollector, subject: String) {
    warnings.add(
      .timestampsUnordered, subject, count: unordered, of: .size(count),
      "rows of \(subject) go back in time; they were sorted")
    warnings.add(
      .clockJump, subject, count: jumps,
      "the clock of \(subject) steps back by more than 1 s or ahead by more than 60 s")
  }
}

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
        others += Set(group.map { bits(of: samples[places[$0]]) }).count - 1
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
  private static func bits(of sample: IMUSample) -> [UInt64] {
    [sample.x, sample.y, sample.z].map(\.bitPattern)
  }
}

/// The steps between consecutive times, in the given order.
public struct TimeSteps: Sendable {
  /// Steps in nanoseconds; negative where time goes back.
  public var nanoseconds: [Int64]

  /// The times must not contain frames without time.
  public init(_ times: [Timestamp]) {
    nanoseconds = zip(times.dropFirst(), times).map { $0 - $1 }
  }

  /// Steps between adjacent frames that both have a time. Around a frame without time there is no
  /// step, so it is no evidence of a gap.
  public init(ofNeighbors times: [Timestamp?]) {
    nanoseconds = zip(times, times.dropFirst()).compactMap { before, after in
      guard let before, let after else { return nil }
      return after - before
    }
  }

  /// The median step; for an even number the mean of the middle two, rounded down; `nil` without
  /// steps.
  public var medianNanoseconds: Int64? {
    guard !nanoseconds.isEmpty else { return nil }
    let sorted = nanoseconds.sorted()
    let middle = sorted.count / 2
    if sorted.count % 2 == 1 { return sorted[middle] }
    let (low, high) = (sorted[middle - 1], sorted[middle])
    // The difference of two Int64 may need 64 bits without sign.
    let distance = UInt64(bitPattern: high) &- UInt64(bitPattern: low)
    return low &+ Int64(bitPattern: distance / 2)
  }

  /// Number of steps above `factor` × the median step; 0 when the median is not positive.
  func gaps(above factor: Double) -> Int {
    guard let median = medianNanoseconds, median > 0 else { return 0 }
    return nanoseconds.count { Double($0) > factor * Double(median) }
  }

  /// Number of steps below zero.
  var backward: Int { nanoseconds.count { $0 < 0 } }

  /// Number of steps of exactly zero.
  var repeated: Int { nanoseconds.count { $0 == 0 } }

  /// Frequency by the median step; `nil` without a positive median.
  public var rateHz: Double? {
    guard let median = medianNanoseconds, median > 0 else { return nil }
    return 1e9 / Double(median)
  }
}

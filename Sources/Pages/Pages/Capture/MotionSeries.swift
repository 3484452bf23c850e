import Captures
import Engine

/// Statistics of motion samples: `imu/imu.csv`, read twice, in memory proportional to the columns
/// of a plot.
struct MotionSeries {
  /// The plotted values of a sensor.
  struct Quantity {
    enum Kind { case rotationRate, acceleration, gravity }
    var kind: Kind
    /// The sensor's name in the table.
    var sensor: String
    var count = 0
    var axes: [ColumnBuckets]
    var sums: [Double] = [0, 0, 0]
    var squares: [Double] = [0, 0, 0]
    /// For each axis the lowest and the highest value, with their times in nanoseconds.
    var extremes: [(low: (value: Double, time: Int64), high: (value: Double, time: Int64))] = []
    /// Steps above this are gaps, nanoseconds.
    var threshold = Double.infinity
    var before: Int64?
  }

  struct Gap: Hashable {
    var sensor: String
    var start: Int64
    var length: Int64
  }

  private(set) var quantities: [Quantity] = []
  /// Number of samples by sensor type.
  private(set) var counts: [String: Int] = [:]
  /// The longest gaps, by time.
  private(set) var gaps: [Gap] = []
  private(set) var first: Int64
  private(set) var last: Int64
  /// The time at 0 of the axis, and the axis.
  private(set) var origin: Int64
  private(set) var range: ClosedRange<Double>
  /// Number of rows that are not samples.
  private(set) var oddRows = 0

  private static let mostSensors = 24
  private static let mostGaps = 60
  private static let names = ["timestamp_ns", "sensor_type", "x", "y", "z"]

  private struct Survey {
    var steps = StepTally()
    var count = 0
    var before: Int64?
  }

  /// `nil` without a table or without samples; `problems` then states the reason.
  init?(
    _ table: PublishedTable, gaps rule: MotionGapRule, frames: FrameTimes?, problems: inout [String]
  ) {
    var surveys: [String: Survey] = [:]
    var span: (Int64, Int64)?
    var odd = 0
    let found = table.read(columns: Self.names) { row in
      let sensor = row.text(1)
      guard let time = row.nanoseconds(0), !sensor.isEmpty, row.number(2) != nil,
        surveys[sensor] != nil || surveys.count < Self.mostSensors
      else {
        odd += 1
        return
      }
      span = (min(span?.0 ?? time, time), max(span?.1 ?? time, time))
      var survey = surveys[sensor] ?? Survey()
      if let before = survey.before { survey.steps.add(Double(time) - Double(before)) }
      survey.before = time
      survey.count += 1
      surveys[sensor] = survey
    }
    problems += found
    guard let span else { return nil }
    (first, last) = span
    oddRows = odd
    counts = surveys.mapValues(\.count)
    // Frames of another clock cannot be placed on this axis.
    let sharesClock = frames.map { times in
      guard let begin = times.first, let end = times.last else { return false }
      return begin <= span.1 && end >= span.0
    }
    let zero = sharesClock == true ? frames?.first ?? span.0 : span.0
    origin = zero
    let low = (Double(span.0) - Double(zero)) / 1e9
    let high = (Double(span.1) - Double(zero)) / 1e9
    let frameEnd = sharesClock == true ? frames?.duration ?? high : high
    let from = min(low, sharesClock == true ? 0 : low)
    range = from...max(high, frameEnd, from + 1e-3)
    for (kind, sensors) in Self.wanted {
      guard let sensor = sensors.first(where: { surveys[$0] != nil }), let survey = surveys[sensor]
      else { continue }
      var quantity = Quantity(
        kind: kind, sensor: sensor,
        axes: Array(repeating: ColumnBuckets(range: range, columns: FrameTimes.columns), count: 3))
      quantity.threshold = rule.threshold(medianNanoseconds: survey.steps.median)
      quantities.append(quantity)
    }
    measure(table)
  }

  private static let wanted: [(Quantity.Kind, [String])] = [
    (.rotationRate, ["gyroscope", "rotationRate"]),
    (.acceleration, ["userAcceleration", "accelerometer"]),
    (.gravity, ["gravity"]),
  ]

  private mutating func measure(_ table: PublishedTable) {
    var series = self
    let wanted = quantities.map { Array($0.sensor.utf8) }
    var found: [Gap] = []
    _ = table.read(columns: Self.names) { row in
      guard let index = wanted.firstIndex(where: { row.holds(1, $0) }),
        let time = row.nanoseconds(0)
      else { return }
      let values = [row.number(2), row.number(3), row.number(4)]
      guard values[0] != nil else { return }
      let gap = series.quantities[index].add(time, values, origin: series.origin)
      if let gap {
        found.append(gap)
        if found.count > 4 * Self.mostGaps { found = Self.longest(found) }
      }
    }
    series.gaps = Self.longest(found)
    self = series
  }

  private static func longest(_ gaps: [Gap]) -> [Gap] {
    gaps.sorted { ($0.length, $1.start) > ($1.length, $0.start) }.prefix(mostGaps)
      .sorted { ($0.start, $0.sensor) < ($1.start, $1.sensor) }
  }

  /// `no gaps between samples`, `1 gap between samples (0.33 s)`; simultaneous gaps of several
  /// sensors count once.
  var gapWords: String {
    var places = 0
    var (longest, end): (Int64, Int64) = (0, .min)
    for gap in gaps {
      if gap.start >= end { places += 1 }
      end = max(end, gap.start.addingReportingOverflow(gap.length).partialValue)
      longest = max(longest, gap.length)
    }
    if places == 0 { return "No gaps between samples" }
    let length = FigureText.duration(Double(longest) / 1e9)
    return "\(FigureText.counted(places, "gap")) between samples, "
      + (places == 1 ? "of \(length)" : "the longest of \(length)")
  }

  func seconds(_ time: Int64) -> Double { (Double(time) - Double(origin)) / 1e9 }
}

extension MotionSeries.Quantity {
  /// Adds a sample; returns the gap that ends at it, if any.
  fileprivate mutating func add(_ time: Int64, _ values: [Double?], origin: Int64)
    -> MotionSeries.Gap?
  {
    let step = before.map { Double(time) - Double($0) } ?? 0
    var gap: MotionSeries.Gap?
    if let before, step > threshold {
      let (length, isTooLong) = time.subtractingReportingOverflow(before)
      gap = MotionSeries.Gap(sensor: sensor, start: before, length: isTooLong ? .max : length)
    }
    before = time
    count += 1
    let place = (Double(time) - Double(origin)) / 1e9
    for axis in 0..<3 {
      guard let value = values[axis] else { continue }
      axes[axis].add(at: place, value, isAfterGap: gap != nil)
      sums[axis] += value
      squares[axis] += value * value
      while extremes.count <= axis { extremes.append(((value, time), (value, time))) }
      if value < extremes[axis].low.value { extremes[axis].low = (value, time) }
      if value > extremes[axis].high.value { extremes[axis].high = (value, time) }
    }
    return gap
  }
}

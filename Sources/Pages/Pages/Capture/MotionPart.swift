import Captures
import Core
import Engine

extension CapturePieces {
  private var frames: FrameTimes? { material.frames }

  /// The part about motion sensors: rotation rate, acceleration and gravity over time, the times of
  /// frames, and gaps in samples or frames.
  func motionPart() -> Markup? {
    if motion == nil, motionProblems.isEmpty { return nil }
    return Tag.section(.id("imu")) {
      Tag.h2 { "Motion" }
      phrasing.notices(motionProblems)
      if let series = motion {
        Tag.p { words(series) }
        legend(series)
        let bands = self.bands(series)
        let marks = marks(series)
        for quantity in series.quantities { plot(quantity, series, bands, marks) }
        PageTable.folded([counts(series), gapTable(series)], summary: "Samples and gaps by sensor")
      }
    }
  }

  private var sharesClock: Bool {
    guard let series = motion, let frames, let begin = frames.first, let end = frames.last else {
      return false
    }
    return begin <= series.last && end >= series.first
  }

  private func words(_ series: MotionSeries) -> String {
    var words = "\(FigureText.duration(series.seconds(series.last) - series.seconds(series.first)))"
    let total = series.counts.values.reduce(0, +)
    words = "\(FigureText.counted(total, "sample")) in \(words)."
    if let frames, frames.timed > 0 {
      if sharesClock {
        let before = -series.seconds(series.first)
        let after = series.seconds(series.last) - frames.duration
        words +=
          " Motion begins \(Self.offset(before, "before", "after")) the first frame and ends "
        words += "\(Self.offset(after, "after", "before")) the last one."
      } else {
        words += " Its clock is not that of the frames, so frames are not marked on this axis."
      }
    }
    words += " \(series.gapWords)."
    if series.oddRows > 0 {
      words += " \(FigureText.counted(series.oddRows, "row")) could not be understood."
    }
    switch material.published.imu?.record?.signsOfAcceleration {
    case "coremotion":
      words += " Signs are those of CoreMotion: lying face up reads −9.8 m/s² on z."
    case "android": words += " Signs are those of Android: lying face up reads +9.8 m/s² on z."
    default: break
    }
    return words
  }

  private func legend(_ series: MotionSeries) -> Markup {
    var words =
      "Each column of a plot shows its lowest and highest value, so that no spike is lost."
    if sharesClock { words += " Strokes at the bottom: frames." }
    if sharesClock, frames?.gapCount ?? 0 > 0 { words += " Hatched upward: frames are missing." }
    if !series.gaps.isEmpty { words += " Hatched downward: samples are missing." }
    return Tag.p(.classes("small")) { words }
  }

  private static func offset(_ seconds: Double, _ ahead: String, _ behind: String) -> String {
    "\(FigureText.duration(abs(seconds))) \(seconds >= 0 ? ahead : behind)"
  }

  private func bands(_ series: MotionSeries) -> [StripPlot.Band] {
    (sharesClock ? frames?.bands ?? [] : [])
      + zip(series.gaps, gapWords(series)).map { gap, words in
        let from = series.seconds(gap.start)
        return StripPlot.Band(
          from: from, to: from + Double(gap.length) / 1e9, kind: .motionGap, words: words)
      }
  }

  /// `gap of 0.33 s in gyroscope after frame 118`.
  private func gapWords(_ series: MotionSeries) -> [String] {
    let before =
      sharesClock
      ? frames?.frames(before: series.gaps.map(\.start)) ?? []
      : [Int?](repeating: nil, count: series.gaps.count)
    return series.gaps.enumerated().map { index, gap in
      let length = FigureText.duration(Double(gap.length) / 1e9)
      let place =
        (before.indices.contains(index) ? before[index] : nil).map { "after frame \($0)" }
        ?? "at \(FigureText.fixed(series.seconds(gap.start), 2)) s"
      return "gap of \(length) in \(phrasing.text(gap.sensor, most: 60)) \(place)"
    }
  }

  private func marks(_ series: MotionSeries) -> [Bool] {
    sharesClock ? frames?.marks(in: series.range) ?? [] : []
  }

  private func plot(
    _ quantity: MotionSeries.Quantity, _ series: MotionSeries, _ bands: [StripPlot.Band],
    _ marks: [Bool]
  ) -> Markup {
    let low = quantity.axes.map(\.low).min() ?? 0
    let high = quantity.axes.map(\.high).max() ?? 0
    let values = NiceTicks.around(low <= high ? low...high : -1...1, most: 3)
    let sensor = phrasing.text(quantity.sensor, most: 60)
    let own = bands.filter { $0.kind == .gap || $0.words.contains(" in \(sensor) ") }
    let kind = quantity.words
    let axes = ["x", "y", "z"]
    let extents = zip(axes, quantity.axes).map { axis, buckets in
      buckets.values.map {
        "\(axis) \(FigureText.significant($0.lowerBound)) to \(FigureText.significant($0.upperBound))"
      } ?? "\(axis) without values"
    }
    let gaps = own.prefix(5).map(\.words)
    let name =
      "\(kind.title): \(FigureText.counted(quantity.count, "sample")), "
      + extents.joined(separator: ", ") + " \(kind.unit)"
      + (gaps.isEmpty ? "; no gaps" : "; " + gaps.joined(separator: ", "))
    let plot = StripPlot(
      lanes: zip(axes, quantity.axes).map {
        StripPlot.Lane(name: $0, buckets: $1, values: values, height: 58)
      },
      range: series.range,
      axis: sharesClock ? "seconds since the first frame" : "seconds since the first sample",
      bands: own, marks: marks, name: name)
    return Tag.figure(.classes("plot")) {
      Tag.h3 { "\(kind.title) (\(kind.unit))" }
      plot.markup()
      Tag.figcaption(.classes("small")) {
        "From \(sensor)"
        if !gaps.isEmpty {
          ": \(gaps.joined(separator: ", "))\(own.count > gaps.count ? ", …" : "")"
        }
        "."
      }
      PageTable.folded([
        PageTable(
          caption: "\(kind.title) in figures",
          columns: ["Axis", "Lowest", "at", "Highest", "at", "Mean", "RMS"],
          rows: statistics(quantity, series)),
        PageTable(
          caption: "\(kind.title) over time, lowest to highest in \(kind.unit)",
          columns: ["Seconds"] + axes, rows: courses(quantity)),
      ])
    }
  }

  private func statistics(_ quantity: MotionSeries.Quantity, _ series: MotionSeries) -> [[String]] {
    zip(["x", "y", "z"], quantity.extremes.indices).map { axis, index in
      let extreme = quantity.extremes[index]
      let count = Double(max(1, quantity.axes[index].count))
      return [
        axis, FigureText.significant(extreme.low.value, 4),
        FigureText.fixed(series.seconds(extreme.low.time), 2) + " s",
        FigureText.significant(extreme.high.value, 4),
        FigureText.fixed(series.seconds(extreme.high.time), 2) + " s",
        FigureText.significant(quantity.sums[index] / count, 4),
        FigureText.significant((quantity.squares[index] / count).squareRoot(), 4),
      ]
    }
  }

  private func courses(_ quantity: MotionSeries.Quantity) -> [[String]] {
    let parts = quantity.axes.map { $0.reduced(to: 20) }
    guard let first = parts.first else { return [] }
    return first.indices.map { index in
      [
        "\(FigureText.fixed(first[index].range.lowerBound, 2)) – "
          + FigureText.fixed(first[index].range.upperBound, 2)
      ]
        + parts.map { part in
          part[index].values.map {
            "\(FigureText.significant($0.lowerBound)) – \(FigureText.significant($0.upperBound))"
          } ?? "no samples"
        }
    }
  }

  private func gapTable(_ series: MotionSeries) -> PageTable {
    PageTable(
      caption: "Gaps between samples, the longest ones", columns: ["Gap", "From", "Length"],
      rows: zip(gapWords(series), series.gaps).map { words, gap in
        [
          words, FigureText.fixed(series.seconds(gap.start), 3) + " s",
          FigureText.duration(Double(gap.length) / 1e9),
        ]
      }
    )
  }

  private func counts(_ series: MotionSeries) -> PageTable {
    PageTable(
      caption: "Samples by sensor", columns: ["Sensor", "Samples"],
      rows: series.counts.sorted { $0.key < $1.key }.map {
        [phrasing.text($0.key, most: 60), FigureText.count($0.value)]
      }
    )
  }
}

extension MotionSeries.Quantity {
  var words: (title: String, unit: String) {
    switch kind {
    case .rotationRate: ("Rotation rate", "rad/s")
    case .acceleration where sensor == "accelerometer": ("Acceleration, gravity included", "m/s²")
    case .acceleration: ("Acceleration", "m/s²")
    case .gravity: ("Gravity", "m/s²")
    }
  }
}

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

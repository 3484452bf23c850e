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
        PlotTable.folded([counts(series), gapTable(series)], summary: "Samples and gaps by sensor")
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
      PlotTable.folded([
        PlotTable(
          caption: "\(kind.title) in figures",
          columns: ["Axis", "Lowest", "at", "Highest", "at", "Mean", "RMS"],
          rows: statistics(quantity, series)),
        PlotTable(
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

  private func gapTable(_ series: MotionSeries) -> PlotTable {
    PlotTable(
      caption: "Gaps between samples, the longest ones", columns: ["Gap", "From", "Length"],
      rows: zip(gapWords(series), series.gaps).map { words, gap in
        [
          words, FigureText.fixed(series.seconds(gap.start), 3) + " s",
          FigureText.duration(Double(gap.length) / 1e9),
        ]
      }
    )
  }

  private func counts(_ series: MotionSeries) -> PlotTable {
    PlotTable(
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

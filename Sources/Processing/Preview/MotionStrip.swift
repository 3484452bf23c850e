import Core

/// Readings of a three-axis sensor over time.
package struct MotionSeries3: Sendable {
  package var title: String
  package var unit: String
  /// Times, ascending.
  package var nanoseconds: [Int64]
  /// Values per axis x, y, z; as many as times.
  var axes: [[Double]]
  /// Longer steps leave a gap in the line.
  package var gapNanoseconds: Int64

  package init(title: String, unit: String, gapNanoseconds: Int64) {
    (self.title, self.unit, self.gapNanoseconds) = (title, unit, gapNanoseconds)
    nanoseconds = []
    axes = [[], [], []]
  }

  package mutating func append(_ time: Int64, _ x: Double, _ y: Double, _ z: Double) {
    nanoseconds.append(time)
    axes[0].append(x)
    axes[1].append(y)
    axes[2].append(z)
  }
}

/// Plots of motion sensors over time: one panel per sensor, x red, y green, z blue, and a bar below
/// that marks where there are frames.
package enum MotionStrip {
  private static let panelHeight = 96
  private static let header = 14
  private static let footer = 22

  /// A picture `width` pixels wide; `nil` without samples. Each column shows the smallest and the
  /// largest value of its time span; values beyond the range of 99 % of the columns are cut off.
  ///
  /// - Parameters:
  ///   - series: panels from the top; empty ones are left out.
  ///   - frames: times of all frames that have one, on the same clock; may be empty.
  ///   - shown: times of the frames that other pictures show, marked on the bar.
  package static func draw(
    _ series: [MotionSeries3], frames: [Int64] = [], shown: [Int64] = [], width: Int = 1288
  ) -> ColorImage? {
    let series = series.filter { !$0.nanoseconds.isEmpty }
    let times = series.flatMap { [$0.nanoseconds.first, $0.nanoseconds.last].compactMap(\.self) }
    let ends = times + [frames.min(), frames.max()].compactMap(\.self)
    guard let start = ends.min(), let end = ends.max(), !series.isEmpty, width > 1 else {
      return nil
    }
    let axis = TimeAxis(start: start, end: end, width: width)
    let panel = header + panelHeight
    var picture = ColorImage(
      width: width, height: panel * series.count + footer, filled: PixelColor(24, 24, 24))
    for (number, one) in series.enumerated() {
      draw(one, into: &picture, top: number * panel, axis)
    }
    drawTimes(axis, frames: frames, shown: shown, into: &picture, top: panel * series.count)
    return picture
  }

  /// Maps times to columns.
  private struct TimeAxis {
    var start: Int64
    var seconds: Double
    var width: Int

    init(start: Int64, end: Int64, width: Int) {
      self.start = start
      self.width = width
      seconds = max((Double(end) - Double(start)) / 1e9, 1e-9)
    }

    func column(_ time: Int64) -> Int {
      let share = (Double(time) - Double(start)) / 1e9 / seconds
      return Int(min(max(share, 0), 1) * Double(width - 1))
    }
  }

  private static let colors = [
    PixelColor(255, 96, 96), PixelColor(96, 220, 96), PixelColor(110, 160, 255),
  ]

  /// Smallest and largest value of one axis within the time span of one column.
  private struct Column {
    var low = Double.infinity
    var high = -Double.infinity
    var first = 0.0
    var last = 0.0
    var firstTime: Int64 = 0
    var lastTime: Int64 = 0
    var isEmpty: Bool { low > high }

    mutating func add(_ value: Double, _ time: Int64) {
      guard value.isFinite else { return }
      if isEmpty { (first, firstTime) = (value, time) }
      (last, lastTime) = (value, time)
      low = min(low, value)
      high = max(high, value)
    }
  }

  private static func draw(
    _ series: MotionSeries3, into picture: inout ColorImage, top: Int, _ axis: TimeAxis
  ) {
    let columns = series.axes.map { values in
      var columns = [Column](repeating: Column(), count: axis.width)
      for (value, time) in zip(values, series.nanoseconds) {
        columns[axis.column(time)].add(value, time)
      }
      return columns
    }
    let (low, high) = range(columns)
    func row(_ value: Double) -> Int {
      let share = (value - low) / (high - low)
      return top + header + Int((1 - min(max(share, 0), 1)) * Double(panelHeight - 1))
    }
    picture.fill(
      x: 0, y: top + header, width: axis.width, height: panelHeight, .black)
    picture.fill(x: 0, y: row(0), width: axis.width, height: 1, PixelColor(90, 90, 90))
    for (columns, color) in zip(columns, colors) {
      var before: (x: Int, column: Column)?
      for (x, column) in columns.enumerated() where !column.isEmpty {
        vertical(into: &picture, x: x, row(column.low), row(column.high), color)
        if let before,
          Double(column.firstTime) - Double(before.column.lastTime)
            <= Double(series.gapNanoseconds)
        {
          line(
            into: &picture, (before.x, row(before.column.last)), (x, row(column.first)), color)
        }
        before = (x, column)
      }
    }
    PictureFont.draw(series.title + ", " + series.unit, into: &picture, x: 4, y: top + 3)
    let letters = 4 + PictureFont.width(of: series.title + ", " + series.unit + "  ")
    for (number, name) in ["x", "y", "z"].enumerated() {
      PictureFont.draw(name, into: &picture, x: letters + 12 * number, y: top + 3, colors[number])
    }
    let text =
      PictureNumber.fixed(low, 1) + " to " + PictureNumber.fixed(high, 1)
    PictureFont.draw(
      text, into: &picture, x: axis.width - PictureFont.width(of: text) - 2, y: top + 3,
      PixelColor(190, 190, 190))
  }

  /// The range of 99 % of the columns, 0 included, with a margin.
  private static func range(_ columns: [[Column]]) -> (Double, Double) {
    let filled = columns.joined().filter { !$0.isEmpty }
    let (lows, highs) = (filled.map(\.low).sorted(), filled.map(\.high).sorted())
    guard !filled.isEmpty else { return (-1, 1) }
    let cut = filled.count / 200
    let low = min(0, lows[cut])
    let high = max(0, highs[highs.count - 1 - cut])
    let margin = max((high - low) * 0.05, 1e-6)
    return (max(low - margin, -1e12), min(high + margin, 1e12))
  }

  private static func vertical(
    into picture: inout ColorImage, x: Int, _ a: Int, _ b: Int, _ color: PixelColor
  ) {
    picture.fill(x: x, y: min(a, b), width: 1, height: abs(a - b) + 1, color)
  }

  /// Draws the line column by column, each starting where the previous one ended.
  private static func line(
    into picture: inout ColorImage, _ a: (x: Int, y: Int), _ b: (x: Int, y: Int),
    _ color: PixelColor
  ) {
    var last = a.y
    for x in a.x..<max(a.x, b.x) {
      let y = a.y + (b.y - a.y) * (x + 1 - a.x) / (b.x - a.x)
      vertical(into: &picture, x: x, last, y, color)
      last = y
    }
  }

  /// Draws ticks in seconds since the beginning, and the bar of frames.
  private static func drawTimes(
    _ axis: TimeAxis, frames: [Int64], shown: [Int64], into picture: inout ColorImage, top: Int
  ) {
    for time in frames {
      picture.fill(
        x: axis.column(time), y: top + 2, width: 1, height: 5, PixelColor(130, 130, 130))
    }
    for time in shown {
      picture.fill(x: axis.column(time) - 1, y: top, width: 3, height: 9, .white)
    }
    var step = 0.001
    for factor in [2, 2.5, 2, 2, 2.5, 2, 2, 2.5, 2, 2, 2.5, 2, 3, 2, 2.5, 2, 2, 3, 2, 12] {
      if axis.seconds / step <= 12 { break }
      step *= factor
    }
    let digits = step >= 1 ? 0 : step >= 0.1 ? 1 : step >= 0.01 ? 2 : 3
    for tick in 0...24 where Double(tick) * step <= axis.seconds {
      let x = Int(Double(tick) * step / axis.seconds * Double(axis.width - 1))
      let text = PictureNumber.fixed(Double(tick) * step, digits) + " s"
      picture.fill(x: x, y: top, width: 1, height: 3, PixelColor(200, 200, 200))
      PictureFont.draw(
        text, into: &picture,
        x: min(
          max(0, x - PictureFont.width(of: text) / 2), axis.width - PictureFont.width(of: text)),
        y: top + 11, PixelColor(200, 200, 200))
    }
  }
}

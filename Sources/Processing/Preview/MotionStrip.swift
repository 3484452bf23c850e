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
    let text = low.fixed(1) + " to " + high.fixed(1)
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
      let text = (Double(tick) * step).fixed(digits) + " s"
      picture.fill(x: x, y: top, width: 1, height: 3, PixelColor(200, 200, 200))
      PictureFont.draw(
        text, into: &picture,
        x: min(
          max(0, x - PictureFont.width(of: text) / 2), axis.width - PictureFont.width(of: text)),
        y: top + 11, PixelColor(200, 200, 200))
    }
  }
}

/// An 8-bit RGB color.
package struct PixelColor: Hashable, Sendable {
  package var red: UInt8
  package var green: UInt8
  package var blue: UInt8

  init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
    (self.red, self.green, self.blue) = (red, green, blue)
  }

  static let white = PixelColor(255, 255, 255)
  static let black = PixelColor(0, 0, 0)

  /// A mix of `share`/256 of `other` and the rest of this color.
  func mixed(with other: PixelColor, share: Int) -> PixelColor {
    func mix(_ a: UInt8, _ b: UInt8) -> UInt8 {
      UInt8((Int(a) * (256 - share) + Int(b) * share) >> 8)
    }
    return PixelColor(mix(red, other.red), mix(green, other.green), mix(blue, other.blue))
  }
}

extension ColorImage {
  init(width: Int, height: Int, filled color: PixelColor) {
    self.init(width: width, height: height)
    fill(x: 0, y: 0, width: width, height: height, color)
  }

  /// The color of pixel number `index`, row by row.
  subscript(pixel index: Int) -> PixelColor {
    get { PixelColor(rgb[3 * index], rgb[3 * index + 1], rgb[3 * index + 2]) }
    set {
      rgb[3 * index] = newValue.red
      rgb[3 * index + 1] = newValue.green
      rgb[3 * index + 2] = newValue.blue
    }
  }

  /// Fills a rectangle; parts outside the picture are cut off.
  mutating func fill(
    x: Int, y: Int, width boxWidth: Int, height boxHeight: Int, _ color: PixelColor
  ) {
    for row in max(0, y)..<max(0, y, min(height, y + boxHeight)) {
      for column in max(0, x)..<max(0, x, min(width, x + boxWidth)) {
        self[pixel: row * width + column] = color
      }
    }
  }

  /// Draws a picture with its top left corner at (x, y) ≥ 0; parts outside are cut off.
  mutating func put(_ picture: ColorImage, x: Int, y: Int) {
    let columns = min(picture.width, width - x)
    guard columns > 0, x >= 0, y >= 0 else { return }
    for row in 0..<max(0, min(picture.height, height - y)) {
      let source = row * picture.width * 3
      let target = ((y + row) * width + x) * 3
      rgb.replaceSubrange(
        target..<target + columns * 3, with: picture.rgb[source..<source + columns * 3])
    }
  }
}

/// A bitmap font for pictures: printable ASCII, `²` and `×`, five by eight pixels, the lowest row
/// for descenders. Drawn by hand for this project, under its license.
enum PictureFont {
  static let width = 5
  static let height = 8
  /// Distance in pixels from one letter to the next.
  static let advance = 6

  /// Width of `text` in pixels.
  static func width(of text: String, scale: Int = 1) -> Int {
    text.count * advance * scale
  }

  /// The beginning of `text` that fits `pixels`; ends with `~` if cut.
  static func fitting(_ text: String, pixels: Int, scale: Int = 1) -> String {
    let most = max(1, pixels / (advance * scale))
    return text.count <= most ? text : text.prefix(most - 1) + "~"
  }

  /// Draws text with its top left corner at (x, y). Parts outside the picture are cut off; letters
  /// that the font lacks are drawn as question marks.
  static func draw(
    _ text: String, into image: inout ColorImage, x: Int, y: Int, scale: Int = 1,
    _ color: PixelColor = .white
  ) {
    for (position, letter) in text.enumerated() {
      if letter == " " { continue }
      let rows = glyphs[letter] ?? glyphs["?"] ?? []
      let left = x + position * advance * scale
      for (row, bits) in rows.enumerated() {
        for column in 0..<width where bits >> UInt8(width - 1 - column) & 1 == 1 {
          image.fill(
            x: left + column * scale, y: y + row * scale, width: scale, height: scale, color)
        }
      }
    }
  }

  /// The letters, and below them how they look: five columns and eight rows each.
  private static let drawing = """
    0     1     2     3     4     5     6     7     8     9     A     B     C
    .###. ..#.. .###. ##### ...#. ##### ..##. ##### .###. .###. .###. ####. .###.
    #...# .##.. #...# ...#. ..##. #.... .#... ....# #...# #...# #...# #...# #...#
    #..## ..#.. ....# ..#.. .#.#. ####. #.... ...#. #...# #...# #...# #...# #....
    #.#.# ..#.. ..##. ...#. #..#. ....# ####. ..#.. .###. .#### ##### ####. #....
    ##..# ..#.. .#... ....# ##### ....# #...# .#... #...# ....# #...# #...# #....
    #...# ..#.. #.... #...# ...#. #...# #...# .#... #...# ...#. #...# #...# #...#
    .###. .###. ##### .###. ...#. .###. .###. .#... .###. .##.. #...# ####. .###.
    ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .....

    D     E     F     G     H     I     J     K     L     M     N     O     P
    ###.. ##### ##### .###. #...# .###. ..### #...# #.... #...# #...# .###. ####.
    #..#. #.... #.... #...# #...# ..#.. ...#. #..#. #.... ##.## #...# #...# #...#
    #...# #.... #.... #.... #...# ..#.. ...#. #.#.. #.... #.#.# ##..# #...# #...#
    #...# ####. ####. #.### ##### ..#.. ...#. ##... #.... #.#.# #.#.# #...# ####.
    #...# #.... #.... #...# #...# ..#.. ...#. #.#.. #.... #...# #..## #...# #....
    #..#. #.... #.... #...# #...# ..#.. #..#. #..#. #.... #...# #...# #...# #....
    ###.. ##### #.... .#### #...# .###. .##.. #...# ##### #...# #...# .###. #....
    ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .....

    Q     R     S     T     U     V     W     X     Y     Z     a     b     c
    .###. ####. .#### ##### #...# #...# #...# #...# #...# ##### ..... #.... .....
    #...# #...# #.... ..#.. #...# #...# #...# #...# #...# ....# ..... #.... .....
    #...# #...# #.... ..#.. #...# #...# #...# .#.#. #...# ...#. .###. #.##. .###.
    #...# ####. .###. ..#.. #...# #...# #.#.# ..#.. .#.#. ..#.. ....# ##..# #...#
    #.#.# #.#.. ....# ..#.. #...# #...# #.#.# .#.#. ..#.. .#... .#### #...# #....
    #..#. #..#. ....# ..#.. #...# .#.#. #.#.# #...# ..#.. #.... #...# #...# #...#
    .##.# #...# ####. ..#.. .###. ..#.. .#.#. #...# ..#.. ##### .#### ####. .###.
    ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .....

    d     e     f     g     h     i     j     k     l     m     n     o     p
    ....# ..... ..##. ..... #.... ..#.. ...#. #.... .##.. ..... ..... ..... .....
    ....# ..... .#..# ..... #.... ..... ..... #.... ..#.. ..... ..... ..... .....
    .##.# .###. .#... .#### #.##. .##.. ..##. #..#. ..#.. ##.#. #.##. .###. ####.
    #..## #...# ###.. #...# ##..# ..#.. ...#. #.#.. ..#.. #.#.# ##..# #...# #...#
    #...# ##### .#... #...# #...# ..#.. ...#. ##... ..#.. #.#.# #...# #...# #...#
    #...# #.... .#... .#### #...# ..#.. ...#. #.#.. ..#.. #...# #...# #...# ####.
    .#### .###. .#... ....# #...# .###. #..#. #..#. .###. #...# #...# .###. #....
    ..... ..... ..... .###. ..... ..... .##.. ..... ..... ..... ..... ..... #....

    q     r     s     t     u     v     w     x     y     z     .     ,     :
    ..... ..... ..... .#... ..... ..... ..... ..... ..... ..... ..... ..... .....
    ..... ..... ..... .#... ..... ..... ..... ..... ..... ..... ..... ..... .##..
    .#### #.##. .#### ###.. #...# #...# #...# #...# #...# ##### ..... ..... .##..
    #...# ##..# #.... .#... #...# #...# #...# .#.#. #...# ...#. ..... ..... .....
    #...# #.... .###. .#... #...# #...# #.#.# ..#.. #...# ..#.. ..... ..... .##..
    .#### #.... ....# .#..# #..## .#.#. #.#.# .#.#. .#### .#... .##.. .##.. .##..
    ....# #.... ####. ..##. .##.# ..#.. .#.#. #...# ....# ##### .##.. ..#.. .....
    ....# ..... ..... ..... ..... ..... ..... ..... .###. ..... ..... .#... .....

    ;     -     _     +     =     /     (     )     [     ]     %     ~     @
    ..... ..... ..... ..... ..... ..... ...#. .#... .###. .###. ##... ..... .###.
    .##.. ..... ..... ..#.. ..... ....# ..#.. ..#.. .#... ...#. ##..# ..... #...#
    .##.. ..... ..... ..#.. ##### ...#. .#... ...#. .#... ...#. ...#. .#... ....#
    ..... ##### ..... ##### ..... ..#.. .#... ...#. .#... ...#. ..#.. #.#.# .##.#
    .##.. ..... ..... ..#.. ##### .#... .#... ...#. .#... ...#. .#... ...#. #.#.#
    ..#.. ..... ..... ..#.. ..... #.... ..#.. ..#.. .#... ...#. #..## ..... #.#.#
    .#... ..... ##### ..... ..... ..... ...#. .#... .###. .###. ...## ..... .###.
    ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .....

    #     ?     !     '     "     *     &     $     <     >     ^     |     {
    .#.#. .###. ..#.. ..#.. .#.#. ..... .##.. ..#.. ...#. .#... ..#.. ..#.. ...#.
    .#.#. #...# ..#.. ..#.. .#.#. ..#.. #..#. .#### ..#.. ..#.. .#.#. ..#.. ..#..
    ##### ....# ..#.. .#... ..... #.#.# #.#.. #.#.. .#... ...#. #...# ..#.. ..#..
    .#.#. ...#. ..#.. ..... ..... .###. .#... .###. #.... ....# ..... ..#.. .#...
    ##### ..#.. ..#.. ..... ..... #.#.# #.#.# ..#.# .#... ...#. ..... ..#.. ..#..
    .#.#. ..... ..... ..... ..... ..#.. #..#. ####. ..#.. ..#.. ..... ..#.. ..#..
    .#.#. ..#.. ..#.. ..... ..... ..... .##.# ..#.. ...#. .#... ..... ..#.. ...#.
    ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .....

    }     `     ²     ×     \\
    .#... .#... .##.. ..... .....
    ..#.. ..#.. ...#. #...# #....
    ..#.. ...#. ..#.. .#.#. .#...
    ...#. ..... .###. ..#.. ..#..
    ..#.. ..... ..... .#.#. ...#.
    ..#.. ..... ..... #...# ....#
    .#... ..... ..... ..... .....
    ..... ..... ..... ..... .....
    """

  /// Rows from the top; the highest of five bits is the leftmost pixel.
  private static let glyphs: [Character: [UInt8]] = {
    var glyphs: [Character: [UInt8]] = [:]
    var letters: [Character] = []
    for line in drawing.split(separator: "\n") {
      let cells = line.split(separator: " ")
      if cells.allSatisfy({ $0.count == 1 }) {
        letters = cells.joined().map(\.self)
        continue
      }
      for (letter, row) in zip(letters, cells) {
        glyphs[letter, default: []].append(row.reduce(0) { $0 << 1 | ($1 == "#" ? 1 : 0) })
      }
    }
    return glyphs
  }()
}

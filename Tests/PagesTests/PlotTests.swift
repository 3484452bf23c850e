import TestSupport
import Testing

@testable import Core
@testable import Pages

@Suite("Plots")
struct PlotTests {
  @Test(
    "No spike is lost, wherever it is and however long the series",
    arguments: [0, 17, 499_999, 999_999])
  func spikes(_ place: Int) {
    var buckets = ColumnBuckets(range: 0...1_000_000, columns: 600)
    for index in 0..<1_000_000 {
      buckets.add(at: Double(index), index == place ? 42 : Double(index % 7) / 10)
    }
    #expect(buckets.values == 0...42)
    #expect(buckets.columns.count == 600)
    let path = PlotPath.minMax(buckets, values: 0...42, units: 400)
    // The top of the lane is reached, in one column.
    #expect(path.contains("V0") || path.contains(",0"))
    #expect(buckets.columns.compactMap(\.self).count { $0.high == 42 } == 1)
    let column = place * 600 / 1_000_000
    #expect(buckets.columns[column]?.high == 42)
  }

  @Test("A curve is broken where samples are missing")
  func breaks() {
    var buckets = ColumnBuckets(range: 0...4, columns: 4)
    for (place, isAfterGap) in [(0.0, false), (1, false), (2, true), (3, false)] {
      buckets.add(at: place, place, isAfterGap: isAfterGap)
    }
    let path = PlotPath.minMax(buckets, values: 0...4, units: 4)
    #expect(path == "M0,4h0L1,3M2,2h0L3,1")
  }

  @Test("Values that are no numbers, and places beyond the axis, do no harm")
  func odd() {
    var buckets = ColumnBuckets(range: 0...1, columns: 3)
    for place in [-1e300, 0.5, 1e300, .nan, .infinity] { buckets.add(at: place, 1) }
    for value in [Double.nan, .infinity, -.infinity] { buckets.add(at: 0.5, value) }
    #expect(buckets.count == 4)
    #expect(buckets.values == 1...1)
    var flat = ColumnBuckets(range: 2...2, columns: 3)
    flat.add(at: 2, 1e308)
    flat.add(at: 2, -1e308)
    #expect(!PlotPath.minMax(flat, values: -1e308...1e308, units: 10).isEmpty)
    #expect(NiceTicks(-1e308...1e308, most: 4).values.isEmpty)
  }

  private static let tickRows: [(ClosedRange<Double>, Int, [String])] = [
    (0...1, 5, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
    (0...70, 5, ["0", "20", "40", "60"]),
    (-9.81...9.81, 4, ["−5", "0", "5"]),
    (0...0, 5, []),
    (0...3600, 5, ["0", "1,000", "2,000", "3,000"]),
    (0.0012...0.0031, 4, ["0.0015", "0.0020", "0.0025", "0.0030"]),
    // A step of 0.5 would leave 0.0 alone.
    (-0.2...0.4, 2, ["−0.2", "0.0", "0.2", "0.4"]),
    (-0.08...0.04, 2, ["−0.05", "0.00"]),
  ]

  @Test("Ticks are round", arguments: tickRows)
  func ticks(_ range: ClosedRange<Double>, _ most: Int, _ texts: [String]) {
    let ticks = NiceTicks(range, most: most)
    #expect(ticks.values.map(ticks.text) == texts)
  }

  @Test("No axis has a single tick, and texts of ticks differ", arguments: 0..<8)
  func scale(_ seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    for _ in 0..<300 {
      let low = Double.random(in: -1...1, using: &random)
      let powers: [Double] = [1e-4, 1e-2, 0.1, 1, 10, 1e3, 1e5]
      let power = powers.randomElement(using: &random) ?? 1
      let width = power * Double.random(in: 1...10, using: &random)
      for most in [2, 3, 5] {
        let range = NiceTicks.around(low * width...(low * width + width), most: 3)
        let ticks = NiceTicks(range, most: most)
        #expect(ticks.values.count >= 2, "\(range) \(most)")
        #expect(ticks.values.count <= most + 3)
        #expect(Set(ticks.values.map(ticks.text)).count == ticks.values.count, "\(range) \(most)")
      }
    }
  }

  @Test("The median of steps is within a hundredth, for any number of them")
  func median() throws {
    var tally = StepTally()
    for index in 0..<100_000 { tally.add(index % 10 == 0 ? 5e9 : 33_333_333) }
    let median = try #require(tally.median)
    #expect(abs(median - 33_333_333) < 1)
    #expect(tally.longest == 5e9)
    for step in [0, -1, .nan, .infinity, 1e300] { tally.add(step) }
    #expect(tally.count == 100_001)
  }

  private static let numbers: [(String, String)] = [
    (FigureText.fixed(1234.5, 1), "1,234.5"), (FigureText.fixed(-0.0004, 3), "0.000"),
    (FigureText.fixed(-0.26, 1), "−0.3"), (FigureText.fixed(.nan, 2), "–"),
    (FigureText.fixed(0.05, 2), "0.05"), (FigureText.significant(0.000_123_4), "0.000123"),
    (FigureText.significant(98_765), "98,765"), (FigureText.duration(0.3333), "0.333 s"),
    (FigureText.duration(0.033), "33 ms"), (FigureText.duration(250), "4 min 10 s"),
    (FigureText.duration(7500), "2 h 5 min"), (FigureText.duration(.infinity), "–"),
    (FigureText.percent(0.9999), "> 99.9 %"), (FigureText.percent(0.00001), "< 0.1 %"),
    (FigureText.percent(1), "100 %"), (FigureText.percent(0), "0 %"),
    (FigureText.percent(0.84), "84 %"), (FigureText.counted(1, "frame"), "1 frame"),
    (FigureText.counted(1204, "frame"), "1,204 frames"),
    (FigureText.count(.min), "−9,223,372,036,854,775,808"),
    (MapPlot.lengthText(0.574), "57 cm"), (MapPlot.lengthText(1500), "1.50 km"),
  ]

  @Test("Numbers as people write them", arguments: numbers)
  func figures(_ text: String, _ expected: String) {
    #expect(text == expected)
  }

  @Test("A track of any length keeps its turning points in bounded memory")
  func sketch() {
    var sketch = TrackSketch(tolerance: 0.001, most: 500)
    for index in 0..<200_000 {
      sketch.add(
        x: Double(index % 2000) / 100, y: index == 77_777 ? 50 : Double(index / 2000) / 100)
    }
    #expect(sketch.points.count <= 500)
    #expect(sketch.high.y == 50)
    #expect(sketch.points.contains { $0.y == 50 })
    #expect(sketch.count == 200_000)
  }

  @Test("Nothing but jumps stays bounded as well")
  func jumps() {
    var sketch = TrackSketch(most: 100)
    for index in 0..<10_000 { sketch.add(x: Double(index), y: 0, isAfterJump: true) }
    #expect(sketch.points.count <= 101)
    #expect(sketch.count == 10_000 && sketch.length == 0)
  }

  @Test("The scale bar is a round length, and as long as it says")
  func scaleBar() throws {
    var sketch = TrackSketch()
    sketch.add(x: 0, y: 0)
    sketch.add(x: 10, y: 3)
    let map = MapPlot(sketch: sketch, yIsUp: true, name: "way")
    let text = String(decoding: map.markup().bytes, as: UTF8.self)
    #expect(text.contains(">2 m<") || text.contains(">5 m<") || text.contains(">1 m<"))
    // 10 m take the width without its margins: 424 units.
    let bar = try #require(text.firstMatch(of: /v6h([0-9.]+)v-6/)).output.1
    #expect(abs((Double(bar) ?? 0) - map.barMeters * 42.4) < 0.2)
  }

  @Test("Gaps are shaded at their place, as wide as they are, and named")
  func bands() {
    let band = StripPlot.Band(from: 2.5, to: 5, words: "gap of 2.50 s after frame 75")
    let text = String(decoding: StripPlot.band(band, in: 0...10, height: 50).bytes, as: UTF8.self)
    #expect(text.contains(#"<rect x="25.0%" y="0" width="25.0%""#))
    #expect(text.contains("<title>gap of 2.50 s after frame 75</title>"))
    // Beyond the axis it is cut off.
    let outside = StripPlot.Band(from: -5, to: 100, words: "w")
    #expect(
      String(decoding: StripPlot.band(outside, in: 0...10, height: 5).bytes, as: UTF8.self)
        .contains(#"x="0.0%" y="0" width="100.0%""#))
  }

  @Test("Long pauses are cut out of a timeline and marked")
  func pauses() {
    let rows = [
      SpanPlot.Row(label: "a", from: 100, to: 110, words: ""),
      SpanPlot.Row(label: "b", from: 105, to: 120, words: ""),
      SpanPlot.Row(label: "c", from: 90_000, to: 90_010, words: ""),
    ]
    let layout = SpanPlot(rows: rows, name: "").laidOut()
    #expect(layout.spans.map(\.from) == [0, 5, 20])
    #expect(layout.cuts == [20])
    #expect(layout.length == 30)
  }

  @Test("Runs of frames are drawn as bars, single ones as strokes")
  func marks() {
    #expect(PlotPath.marks([true, false, true, true, true, false]) == "M0,0v1M2,0h2v1h-2z")
    #expect(PlotPath.marks([]) == "")
  }
}

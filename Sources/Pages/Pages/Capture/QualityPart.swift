import Captures
import Core
import Engine
import Processing

extension CaptureQuality.Level {
  /// `Poor: look before you use`.
  var words: String {
    switch self {
    case .good: "Good"
    case .usable: "Usable"
    case .unjudged: "Unjudged"
    case .poor: "Poor: look before you use"
    }
  }
}

extension CapturePieces {
  /// The part about the quality of the capture: the verdict, what was judged, and the figures of every frame. `nil`
  /// unless it was judged.
  func qualityPart() -> Markup? {
    guard let quality = material.capture.quality else { return nil }
    return Tag.section(
      .id("quality"), Attribute("data-quality", quality.verdict.rawValue)
    ) {
      Tag.h2 { "Quality" }
      phrasing.notices(qualitySeries?.problems ?? [])
      Tag.p {
        Tag.strong { quality.verdict.words }
        if quality.reasons.isEmpty {
          ". Nothing that was judged is beyond its limits."
        } else {
          ". "
          phrasing.text(quality.reasons.map { $0 + "." }.joined(separator: " "))
        }
        if let pictures = quality.pictures {
          " \(pictures.judged) of \(pictures.of) recorded pictures were judged."
        }
      }
      PageTable.facts(
        "What was judged", ["Judged", "Value", "Verdict"],
        QualityVerdict.Subject.allCases.compactMap { subject in
          quality.judged[subject.rawValue].map {
            [
              subject.meaning.prefix(1).uppercased() + subject.meaning.dropFirst(),
              $0.value.map(subject.text) ?? "–", $0.level.rawValue,
            ]
          }
        })
      plot()
    }
  }

  @MarkupBuilder private func plot() -> Markup {
    if let series = qualitySeries, !series.lanes.isEmpty, series.frames > 1,
      let range = series.lanes.first?.buckets.range
    {
      let name =
        "Quality of \(FigureText.counted(series.frames, "frame")): "
        + series.lanes.map(\.name).joined(separator: ", ")
      Tag.figure(.classes("plot")) {
        Tag.h3 { "Every frame" }
        StripPlot(
          lanes: series.lanes.map { lane in
            StripPlot.Lane(
              name: lane.name, buckets: lane.buckets, values: Self.shown(lane), height: 48)
          },
          range: range, axis: "frame", name: name
        ).markup()
        PageTable.folded(
          series.lanes.map { lane in
            PageTable(
              caption: lane.name.prefix(1).uppercased() + lane.name.dropFirst(),
              columns: ["Frames", "Lowest", "Highest"],
              rows: lane.buckets.reduced(to: 20).map { part in
                [
                  "\(FigureText.fixed(part.range.lowerBound, 0)) – "
                    + FigureText.fixed(part.range.upperBound, 0),
                  part.values.map { FigureText.significant($0.lowerBound) } ?? "–",
                  part.values.map { FigureText.significant($0.upperBound) } ?? "–",
                ]
              })
          })
      }
    }
  }

  /// From 0, so that what looks twice as high is twice as much.
  private static func shown(_ lane: QualitySeries.Lane) -> ClosedRange<Double> {
    if lane.isShare { return 0...1 }
    let highest = lane.buckets.values?.upperBound ?? 1
    return NiceTicks.around(0...max(highest, 1e-6))
  }
}

/// The quality of every frame: `quality/quality.csv`, read twice, in memory proportional to the columns of a plot.
struct QualitySeries {
  struct Lane {
    /// The name in the plot, with its unit.
    var name: String
    /// Shares, of which the whole range is shown.
    var isShare: Bool
    var buckets: ColumnBuckets
  }

  private static let columns = 600
  /// The columns that are drawn if the table has values in them.
  private static let drawn: [(column: String, name: String, isShare: Bool)] = [
    ("sharpness", "sharpness", false), ("blur_sigma_px", "blur, px of 1,920", false),
    ("blur_px", "blur by motion, px", false), ("bright_share", "too bright", true),
    ("dark_share", "too dark", true), ("depth_share", "depth measured", true),
    ("depth_difference_median_permille", "depth differs, ‰", false),
  ]

  private(set) var lanes: [Lane] = []
  private(set) var frames = 0
  private(set) var problems: [String] = []

  /// `nil` without a table.
  init?(_ table: PublishedTable?) {
    guard let table else { return nil }
    let names = ["frame"] + Self.drawn.map(\.column)
    var last = 0
    _ = table.read(columns: ["frame"]) { row in
      frames += 1
      last = max(last, Self.frame(row, frames - 1))
    }
    // At most one column per frame, so that bars are adjacent.
    let range = 0...Double(last + 1)
    let count = min(Self.columns, last + 1)
    var buckets = Self.drawn.map { _ in ColumnBuckets(range: range, columns: count) }
    var number = 0
    problems = table.read(columns: names) { row in
      let frame = Double(Self.frame(row, number))
      number += 1
      for index in buckets.indices {
        if let value = row.number(index + 1) { buckets[index].add(at: frame, value) }
      }
    }
    lanes = zip(Self.drawn, buckets).compactMap { drawn, buckets in
      buckets.count == 0
        ? nil
        : Lane(name: drawn.name, isShare: drawn.isShare, buckets: buckets)
    }
  }

  /// The number of a row where it does not say its frame. Frames beyond ten million are not placed.
  private static func frame(_ row: borrowing PublishedTable.Row, _ number: Int) -> Int {
    min(max(row.nanoseconds(0).flatMap { Int(exactly: $0) } ?? number, 0), 10_000_000)
  }
}

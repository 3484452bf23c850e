import Core
import Captures
import Processing

/// The part about the quality of the capture: the verdict, what was judged, and the figures of every frame.
struct QualityPart {
  /// `nil`: it was not judged.
  let quality: CaptureQuality?
  let series: QualitySeries?
  let phrasing: PagePhrasing

  /// `Poor: look before you use`.
  static func words(_ level: CaptureQuality.Level) -> String {
    switch level {
    case .good: "Good"
    case .usable: "Usable"
    case .unjudged: "Unjudged"
    case .poor: "Poor: look before you use"
    }
  }

  func markup() -> Markup? {
    guard let quality else { return nil }
    return .element(
      .section, .id("quality"), Attribute("data-quality", quality.verdict.rawValue)
    ) {
      Markup.element(.h2) { "Quality" }
      for problem in series?.problems ?? [] {
        Markup.element(.p, .classes("notice")) { phrasing.text(problem) }
      }
      Markup.element(.p) {
        Markup.element(.strong) { Self.words(quality.verdict) }
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
      DataTable.markup(
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
    if let series, !series.lanes.isEmpty, series.frames > 1,
      let range = series.lanes.first?.buckets.range
    {
      let name =
        "Quality of \(FigureText.counted(series.frames, "frame")): "
        + series.lanes.map(\.name).joined(separator: ", ")
      Markup.element(.figure, .classes("plot")) {
        Markup.element(.h3) { "Every frame" }
        StripPlot(
          lanes: series.lanes.map { lane in
            StripPlot.Lane(
              name: lane.name, buckets: lane.buckets, values: Self.shown(lane), height: 48)
          },
          range: range, axis: "frame", name: name
        ).markup()
        PlotTable.folded(
          series.lanes.map { lane in
            PlotTable(
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

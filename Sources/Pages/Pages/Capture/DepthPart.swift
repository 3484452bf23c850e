import Core

extension CapturePieces {
  private static let bins = 60
  /// Frames with a smaller measured share count as nearly empty.
  private static let littleShare = 0.1

  /// The part about how much of the depth pictures is measured, and at what distances.
  func depthPart() -> Markup? {
    let (survey, problems) = (pictures.survey, pictures.depthProblems)
    if survey == nil, problems.isEmpty { return nil }
    return Tag.section(.id("depth")) {
      Tag.h2 { "Depth" }
      phrasing.notices(problems)
      if let survey, !survey.frames.isEmpty {
        Tag.p { words(survey) }
        histogram(survey)
        shares(survey)
      }
    }
  }

  private func median(_ survey: DepthSummary) -> Double { survey.medianShare ?? 0 }

  private func words(_ survey: DepthSummary) -> String {
    var words =
      survey.frames.count == survey.all
      ? "All \(FigureText.counted(survey.all, "depth picture")) were looked at."
      : "\(FigureText.count(survey.frames.count)) of \(FigureText.counted(survey.all, "depth picture")) were looked at: evenly spaced ones, and those with the smallest files."
    if let near = survey.meters(atShare: 0.02), let middle = survey.meters(atShare: 0.5),
      let far = survey.meters(atShare: 0.98)
    {
      words +=
        " Most measurements lie between \(FigureText.fixed(near, 2)) m and \(FigureText.fixed(far, 2)) m, half of them below \(FigureText.fixed(middle, 2)) m."
    } else {
      words += " Nothing was measured in any of them."
    }
    words += " The median frame has \(FigureText.percent(median(survey))) of its pixels measured."
    let empty = survey.frames.filter { $0.share < Self.littleShare }
    if !empty.isEmpty {
      let names = empty.prefix(12).map { "\($0.frame)" }.joined(separator: ", ")
      words +=
        " Less than 10 % in \(FigureText.counted(empty.count, "frame")): \(names)\(empty.count > 12 ? ", …" : "")."
    }
    return words
  }

  @MarkupBuilder private func histogram(_ survey: DepthSummary) -> Markup {
    if let (end, counts) = survey.bins(Self.bins) {
      let total = Double(max(1, counts.reduce(0, +)))
      let peak = counts.enumerated().max { $0.element < $1.element }?.offset ?? 0
      let width = end / Double(Self.bins)
      let name =
        "Histogram of depth from 0 to \(FigureText.fixed(end, 1)) m, most measurements near "
        + "\(FigureText.fixed((Double(peak) + 0.5) * width, 2)) m"
      Tag.figure(.classes("plot")) {
        Tag.h3 { "Histogram" }
        StripPlot.histogram(range: 0...end, bins: counts, axis: "meters", name: name)
        PlotTable(
          caption: "Share of the measured pixels by distance", columns: ["Meters", "Share"],
          rows: stride(from: 0, to: Self.bins, by: 3).map { start in
            let sum = counts[start..<min(Self.bins, start + 3)].reduce(0, +)
            return [
              "\(FigureText.fixed(Double(start) * width, 2)) – \(FigureText.fixed(Double(start + 3) * width, 2))",
              FigureText.percent(Double(sum) / total),
            ]
          }
        ).markup()
      }
    }
  }

  private func shares(_ survey: DepthSummary) -> Markup {
    let first = survey.frames.first?.frame ?? 0
    let last = max(survey.frames.last?.frame ?? 0, first + 1)
    // At most one column per frame, so that bars are adjacent.
    let columns = min(600, max(1, min(survey.frames.count, last - first + 1)))
    var buckets = ColumnBuckets(range: Double(first)...Double(last + 1), columns: columns)
    for frame in survey.frames { buckets.add(at: Double(frame.frame), frame.share * 100) }
    let least = survey.frames.min { $0.share < $1.share }
    let name =
      "Measured pixels per frame: median \(FigureText.percent(median(survey)))"
      + (least.map { ", least \(FigureText.percent($0.share)) in frame \($0.frame)" } ?? "")
    return Tag.figure(.classes("plot")) {
      Tag.h3 { "Measured pixels per frame" }
      StripPlot(
        lanes: [
          StripPlot.Lane(
            name: "%", buckets: buckets, values: 0...100, height: 120, isFilled: false)
        ], range: buckets.range, axis: "frame", name: name
      ).markup()
      Tag.figcaption(.classes("small")) { name + "." }
      PlotTable(
        caption: "Measured pixels by frame", columns: ["Frame", "Measured", "Nearest", "Farthest"],
        rows: EvenChoice.of(survey.frames, count: 24).map { frame in
          [
            "\(frame.frame)", FigureText.percent(frame.share),
            frame.nearest.map { FigureText.fixed(Double($0) / 1000, 3) + " m" } ?? "–",
            frame.farthest.map { FigureText.fixed(Double($0) / 1000, 3) + " m" } ?? "–",
          ]
        }
      ).markup()
    }
  }
}

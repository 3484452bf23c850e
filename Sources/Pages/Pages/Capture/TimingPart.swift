import Core

extension CapturePieces {
  /// The part about the regularity of frame times.
  func timingPart() -> Markup? {
    let frames = material.frames
    let problems = tableProblems + (frames?.problems ?? [])
    guard frames.map({ $0.timed > 1 }) ?? false || !problems.isEmpty else { return nil }
    return Tag.section(.id("timing")) {
      Tag.h2 { "Frame intervals" }
      phrasing.notices(problems)
      if let frames, let median = frames.median {
        Tag.p { words(frames, median) }
        plot(frames, median)
      } else if let frames, frames.timed > 1 {
        Tag.p { "All frames have the same time." }
      }
    }
  }

  private func words(_ frames: FrameTimes, _ median: Double) -> String {
    var words =
      "\(FigureText.counted(frames.timed, "frame")) in \(FigureText.duration(frames.duration)), "
      + "\(FigureText.significant(1e9 / median)) per second: one every "
      + "\(FigureText.duration(median / 1e9)), the longest interval "
      + "\(FigureText.duration(frames.longest / 1e9))."
    words +=
      frames.gapCount == 0
      ? " No gaps."
      : " \(FigureText.counted(frames.gapCount, "gap")) longer than \(FigureText.duration((frames.threshold ?? 0) / 1e9))."
    if frames.backward > 0 {
      words += " \(FigureText.counted(frames.backward, "time does", "times do")) not advance."
    }
    if frames.timed < frames.rows {
      words += " \(FigureText.counted(frames.rows - frames.timed, "frame")) without a time."
    }
    if let offset = frames.colorLessDepth, offset.lowerBound != 0 || offset.upperBound != 0 {
      words +=
        " Color is \(FigureText.fixed(offset.lowerBound, 1)) to \(FigureText.fixed(offset.upperBound, 1)) ms later than depth."
    }
    return words
  }

  @MarkupBuilder private func plot(_ frames: FrameTimes, _ median: Double) -> Markup {
    if let intervals = frames.intervals, let values = intervals.values {
      let bands = frames.bands
      let shown = NiceTicks.around(
        min(0, values.lowerBound)...max(values.upperBound, 2e-6 * median))
      let gaps = bands.prefix(5).map(\.words)
      let name =
        "Frame intervals: median \(FigureText.duration(median / 1e9)), longest "
        + FigureText.duration(frames.longest / 1e9)
        + (gaps.isEmpty ? "; no gaps" : "; " + gaps.joined(separator: ", "))
      Tag.figure(.classes("plot")) {
        StripPlot(
          lanes: [StripPlot.Lane(name: "ms", buckets: intervals, values: shown, height: 140)],
          range: intervals.range, axis: "seconds since the first frame", bands: bands, name: name
        ).markup()
        Tag.figcaption(.classes("small")) {
          "Milliseconds since the frame before; each column shows its shortest and longest."
          if !bands.isEmpty { " Hatched: frames are missing." }
        }
        PlotTable.folded([
          PlotTable(
            caption: "Intervals over time", columns: ["Seconds", "Shortest", "Longest"],
            rows: intervals.reduced(to: 20).map { part in
              [
                "\(FigureText.fixed(part.range.lowerBound, 2)) – "
                  + FigureText.fixed(part.range.upperBound, 2),
                part.values.map { FigureText.fixed($0.lowerBound, 1) + " ms" } ?? "no frames",
                part.values.map { FigureText.fixed($0.upperBound, 1) + " ms" } ?? "no frames",
              ]
            }),
          PlotTable(
            caption: "Gaps between frames, the longest ones",
            columns: ["After frame", "At", "Length"],
            rows: frames.gaps.map { gap in
              [
                "\(gap.afterFrame)", FigureText.fixed(frames.seconds(gap.start), 3) + " s",
                FigureText.duration(Double(gap.length) / 1e9),
              ]
            }),
        ])
      }
    }
  }
}

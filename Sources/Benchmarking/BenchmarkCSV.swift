import Codecs

/// A report as a table for programs; columns are called as the keys of the JSON, but for `ratio`, whose column says of
/// what it is.
public enum BenchmarkCSV {
  private static let columns = [
    "id", "family", "jobs", "kind", "name", "frames", "wallSeconds", "cpuSeconds",
    "cpuMillisecondsPerFrame", "framesPerSecond", "busyCores", "inputBytes", "outputBytes",
    "peakMemoryBytes", "peer", "theirsByOurs.cpuSeconds", "theirsByOurs.wallSeconds",
    "theirsByOurs.outputBytes", "floorSeconds", "oursByFloor", "aboveFloorMillisecondsPerMegapixel",
  ]

  /// One row per figure; of repeated runs the median. `kind` is `stage`, `whole`, `ours`, `peer`,
  /// `ratio` or `floor`; a cell that a kind does not have is empty.
  public static func text(_ report: BenchmarkReport) -> String {
    var table = CSVWriter(columns: columns)
    for capture in report.captures {
      for run in capture.runs {
        for stage in run.stages { write(stage, "stage", run.jobs, capture, &table) }
        write(run.whole, "whole", run.jobs, capture, &table)
      }
      if let comparison = capture.comparison {
        for figures in comparison.ours { write(figures, "ours", nil, capture, &table) }
        for figures in comparison.peers { write(figures, "peer", nil, capture, &table) }
        for ratio in comparison.ratios { write(ratio, capture, &table) }
      }
      if let floor = capture.floor {
        for stage in floor.stages + [floor.whole].compactMap(\.self) {
          write(stage, floor.jobs, capture, &table)
        }
      }
    }
    return String(decoding: table.drain(), as: UTF8.self)
  }

  /// One row per compared figure.
  public static func text(_ comparison: BaselineComparison) -> String {
    var table = CSVWriter(columns: [
      "capture", "jobs", "name", "quantity", "before", "now", "nowByBefore", "interval.lower",
      "interval.upper", "verdict",
    ])
    for line in comparison.lines {
      table.field(line.capture)
      table.field(line.jobs)
      table.field(line.name)
      table.field(line.quantity)
      table.field(line.before)
      table.field(line.now)
      table.field(line.ratio)
      table.field(line.interval?.first)
      table.field(line.interval?.last)
      table.field(line.verdict.rawValue)
      table.endRow()
    }
    return String(decoding: table.drain(), as: UTF8.self)
  }

  private static func write(
    _ figures: Figures, _ kind: String, _ jobs: Int?, _ capture: CaptureFigures,
    _ table: inout CSVWriter
  ) {
    begin(capture, jobs, kind, figures.name, &table)
    table.field(figures.frames)
    table.field(figures.wallSeconds.median)
    table.field(figures.cpuSeconds.median)
    table.field(figures.cpuMillisecondsPerFrame)
    table.field(figures.framesPerSecond)
    table.field(figures.busyCores)
    table.field(figures.inputBytes)
    table.field(figures.outputBytes)
    table.field(figures.peakMemoryBytes)
    end(7, &table)
  }

  private static func write(
    _ ratio: PeerComparison.Ratio, _ capture: CaptureFigures, _ table: inout CSVWriter
  ) {
    begin(capture, nil, "ratio", ratio.ours, &table)
    for _ in 0..<9 { table.empty() }
    table.field(ratio.peer)
    let shown = ratio.theirsByOurs
    table.field(shown.cpuSeconds)
    table.field(shown.wallSeconds)
    table.field(shown.outputBytes)
    end(3, &table)
  }

  private static func write(
    _ stage: FloorStage, _ jobs: Int, _ capture: CaptureFigures, _ table: inout CSVWriter
  ) {
    begin(capture, jobs, "floor", stage.name, &table)
    table.field(stage.frames)
    table.field(stage.ours.wallSeconds.median)
    table.field(stage.ours.cpuSeconds.median)
    table.field(stage.ours.cpuMillisecondsPerFrame)
    table.empty()
    table.field(stage.busyCores)
    table.empty()
    table.field(stage.bytes)
    for _ in 0..<5 { table.empty() }
    table.field(stage.floorSeconds)
    table.field(stage.ratio)
    table.field(stage.aboveFloorMillisecondsPerMegapixel)
    table.endRow()
  }

  private static func begin(
    _ capture: CaptureFigures, _ jobs: Int?, _ kind: String, _ name: String,
    _ table: inout CSVWriter
  ) {
    table.field(capture.id)
    table.field(capture.family)
    table.field(jobs.map { Int64($0) })
    table.field(kind)
    table.field(name)
  }

  private static func end(_ empty: Int, _ table: inout CSVWriter) {
    for _ in 0..<empty { table.empty() }
    table.endRow()
  }
}

import Media

/// A report as a table for programs; columns are called as the keys of the JSON.
public enum BenchmarkCSV {
  private static let columns = [
    "id", "family", "jobs", "kind", "name", "frames", "wallSeconds", "cpuSeconds",
    "cpuMillisecondsPerFrame", "framesPerSecond", "busyCores", "inputBytes", "outputBytes",
    "peakMemoryBytes", "peer", "theirsByOurs.cpuSeconds", "theirsByOurs.wallSeconds",
    "theirsByOurs.outputBytes", "floorSeconds", "oursByFloor", "aboveFloorMillisecondsPerMegapixel",
    "runs", "wallSeconds.percentile10", "wallSeconds.percentile90", "cpuSeconds.percentile10",
    "cpuSeconds.percentile90", "version", "started", "commit", "machine.name", "machine.processor",
    "machine.cores", "machine.memoryBytes", "machine.system", "machine.loadBefore",
    "machine.governor", "machine.fileSystem",
  ]

  /// One row per figure; of repeated runs the median, how many they were, and the percentiles of their times. `kind`
  /// is `stage`, `whole`, `ours`, `peer`, `ratio` or `floor`; a cell that a kind does not have is empty. The machine
  /// is the same in every row, so that tables of several machines can be put together.
  public static func text(_ report: BenchmarkReport) -> String {
    var table = CSVWriter(columns: columns)
    func end(wall: Distribution?, cpu: Distribution?) {
      table.field(wall.map { Int64($0.samples.count) })
      for times in [wall, cpu] {
        table.field(times?.percentile10)
        table.field(times?.percentile90)
      }
      write(report, &table)
      table.endRow()
    }
    for capture in report.captures {
      var figures: [(Figures, kind: String, jobs: Int?)] = capture.runs.flatMap { run in
        run.stages.map { ($0, "stage", run.jobs) } + [(run.whole, "whole", run.jobs)]
      }
      if let comparison = capture.comparison {
        figures += comparison.ours.map { ($0, "ours", nil) }
        figures += comparison.peers.map { ($0, "peer", nil) }
      }
      for (figures, kind, jobs) in figures {
        write(figures, kind, jobs, capture, &table)
        end(wall: figures.wallSeconds, cpu: figures.cpuSeconds)
      }
      for ratio in capture.comparison?.ratios ?? [] {
        write(ratio, capture, &table)
        end(wall: nil, cpu: nil)
      }
      if let floor = capture.floor {
        for stage in floor.stages + [floor.whole].compactMap(\.self) {
          write(stage, floor.jobs, capture, &table)
          end(wall: stage.ours.wallSeconds, cpu: stage.ours.cpuSeconds)
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
      table.field(line.nowByBefore)
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
    for _ in 0..<7 { table.empty() }
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
    for _ in 0..<3 { table.empty() }
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
    table.field(stage.oursByFloor)
    table.field(stage.aboveFloorMillisecondsPerMegapixel)
  }

  private static func write(_ report: BenchmarkReport, _ table: inout CSVWriter) {
    let machine = report.machine
    table.field(report.version)
    table.field(report.started)
    table.field(report.build?.commit)
    table.field(machine.name)
    table.field(machine.processor)
    table.field(machine.cores)
    table.field(machine.memoryBytes)
    table.field(machine.system)
    table.field(machine.loadBefore)
    table.field(machine.governor)
    table.field(machine.fileSystem)
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
}

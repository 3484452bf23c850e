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
    let (machine, build) = (report.machine, report.build)
    let ends: [(any CSVCell)?] = [
      report.version, report.started, build?.commit, machine.name, machine.processor,
      machine.cores, machine.memoryBytes, machine.system, machine.loadBefore, machine.governor,
      machine.fileSystem,
    ]
    func row(_ cells: [(any CSVCell)?], wall: Distribution?, cpu: Distribution?) {
      let runs: [(any CSVCell)?] = [
        wall?.samples.count, wall?.percentile10, wall?.percentile90, cpu?.percentile10,
        cpu?.percentile90,
      ]
      table.row(cells + runs + ends)
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
        row(
          cells(figures, kind, jobs, capture), wall: figures.wallSeconds, cpu: figures.cpuSeconds)
      }
      for ratio in capture.comparison?.ratios ?? [] {
        row(cells(ratio, capture), wall: nil, cpu: nil)
      }
      if let floor = capture.floor {
        for stage in floor.stages + [floor.whole].compactMap(\.self) {
          row(
            cells(stage, floor.jobs, capture), wall: stage.ours.wallSeconds,
            cpu: stage.ours.cpuSeconds)
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
      table.row(
        line.capture, line.jobs, line.name, line.quantity, line.before, line.now, line.nowByBefore,
        line.interval?.first, line.interval?.last, line.verdict.rawValue)
    }
    return String(decoding: table.drain(), as: UTF8.self)
  }

  /// The cells up to `runs`.
  private static func cells(
    _ figures: Figures, _ kind: String, _ jobs: Int?, _ capture: CaptureFigures
  ) -> [(any CSVCell)?] {
    [
      capture.id, capture.family, jobs, kind, figures.name, figures.frames,
      figures.wallSeconds.median, figures.cpuSeconds.median, figures.cpuMillisecondsPerFrame,
      figures.framesPerSecond, figures.busyCores, figures.inputBytes, figures.outputBytes,
      figures.peakMemoryBytes, nil, nil, nil, nil, nil, nil, nil,
    ]
  }

  private static func cells(
    _ ratio: PeerComparison.Ratio, _ capture: CaptureFigures
  ) -> [(any CSVCell)?] {
    let shown = ratio.theirsByOurs
    return [
      capture.id, capture.family, nil, "ratio", ratio.ours, nil, nil, nil, nil, nil, nil, nil, nil,
      nil, ratio.peer, shown.cpuSeconds, shown.wallSeconds, shown.outputBytes, nil, nil, nil,
    ]
  }

  private static func cells(
    _ stage: FloorStage, _ jobs: Int, _ capture: CaptureFigures
  ) -> [(any CSVCell)?] {
    [
      capture.id, capture.family, jobs, "floor", stage.name, stage.frames,
      stage.ours.wallSeconds.median, stage.ours.cpuSeconds.median,
      stage.ours.cpuMillisecondsPerFrame, nil, stage.busyCores, nil, stage.bytes, nil, nil, nil,
      nil, nil, stage.floorSeconds, stage.oursByFloor, stage.aboveFloorMillisecondsPerMegapixel,
    ]
  }
}

import Core

/// Formats a report for people.
public enum BenchmarkTable {
  /// - Parameter quoted: the words of a command as they can be copied into a shell.
  public static func text(_ report: BenchmarkReport, quoted: ([String]) -> String) -> String {
    var lines = [heading(report)] + circumstances(report) + [settings(report.settings)]
    for capture in report.captures { lines += [""] + Self.lines(capture, quoted) }
    return lines.joined(separator: "\n")
  }

  private static func heading(_ report: BenchmarkReport) -> String {
    let machine = report.machine
    return
      "scanmill \(report.version) · \(report.started.map { $0 + " · " } ?? "")\(machine.processor), \(machine.cores) cores, "
      + "\(shortText(Double(machine.memoryBytes) / Double(1 << 30))) GiB · \(machine.system)"
  }

  /// Conditions that affect figures other than the machine, and notes about all figures.
  private static func circumstances(_ report: BenchmarkReport) -> [String] {
    let machine = report.machine
    var lines: [String] = []
    if let build = report.build { lines.append(build.words) }
    let peers = (report.peers ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    if !peers.isEmpty { lines.append("compared with " + peers.joined(separator: ", ")) }
    var parts: [String] = []
    if let governor = machine.governor { parts.append("governor \(governor)") }
    if let load = machine.loadBefore { parts.append("load \(shortText(load)) before") }
    if let load = machine.loadAfter { parts.append("\(shortText(load)) after") }
    if let name = machine.fileSystem { parts.append("outputs on \(name)") }
    if !parts.isEmpty { lines.append(parts.joined(separator: " · ")) }
    return lines + report.problems.map { "warning: " + $0 }
  }

  private static func settings(_ settings: BenchmarkReport.Settings) -> String {
    "pipeline \(settings.pipeline) · medians of \(Plural.text(settings.repeats, "run")) after \(settings.warmups) to warm up · "
      + (settings.isCold ? "inputs dropped from the page cache" : "inputs in the page cache")
      + " · every run starts with an empty output folder"
  }

  private static func lines(
    _ capture: CaptureFigures, _ quoted: ([String]) -> String
  ) -> [String] {
    let megabytes = shortText(Double(capture.inputBytes) / 1e6)
    var lines = [
      "\(capture.id) (\(capture.family), \(capture.frames) frames, \(megabytes) MB)"
    ]
    for run in capture.runs { lines += table(run) }
    if capture.runs.count > 1 { lines += scaling(capture.runs) }
    if let floor = capture.floor { lines += Self.lines(floor) }
    if let comparison = capture.comparison { lines += table(comparison, quoted) }
    return lines
  }

  private static let columns = [
    "frames", "frames/s", "wall s", "p10…p90", "CPU s", "CPU ms/frame", "cores", "MB/s in",
    "MB/s out",
    "MB out", "peak MiB",
  ]

  private static func table(_ run: JobsFigures) -> [String] {
    [""] + ColumnText.lines([["-j \(run.jobs)"] + columns] + (run.stages + [run.whole]).map(row))
  }

  private static func row(_ figures: Figures) -> [String] {
    [
      figures.name, "\(figures.frames)", shortText(figures.framesPerSecond),
      shortText(figures.wallSeconds.median),
      shortText(figures.wallSeconds.percentile10) + "…"
        + shortText(figures.wallSeconds.percentile90),
      shortText(figures.cpuSeconds.median),
      shortText(figures.cpuMillisecondsPerFrame),
      shortText(figures.busyCores),
      shortText(figures.inputBytesPerSecond.map { $0 / 1e6 }),
      shortText(figures.outputBytesPerSecond / 1e6),
      shortText(Double(figures.outputBytes) / 1e6),
      shortText(figures.peakMemoryBytes.map { Double($0) / Double(1 << 20) }),
    ]
  }

  /// The speedup of each number of jobs relative to the first.
  private static func scaling(_ runs: [JobsFigures]) -> [String] {
    guard let first = runs.first else { return [] }
    let rows = runs.map { run -> [String] in
      let speedup = first.whole.wallSeconds.median / max(run.whole.wallSeconds.median, 1e-9)
      let cores = Double(run.jobs) / Double(max(first.jobs, 1))
      return [
        "-j \(run.jobs)", shortText(run.whole.wallSeconds.median),
        shortText(speedup), shortText(100 * speedup / cores),
        shortText(run.whole.busyCores),
      ]
    }
    return [""]
      + ColumnText.lines([["scaling", "wall s", "times faster", "efficiency %", "cores"]] + rows)
  }

  private static func table(
    _ comparison: PeerComparison, _ quoted: ([String]) -> String
  ) -> [String] {
    var lines = ["", comparison.note]
    lines += (comparison.missing ?? []).map { "note: " + $0 }
    guard !comparison.ratios.isEmpty else { return lines }
    lines += ColumnText.lines(
      [["in turn", "CPU ms/frame", "wall s", "cores", "MB out", "peak MiB"]]
        + (comparison.ours + comparison.peers).map { figures in
          [
            figures.name, shortText(figures.cpuMillisecondsPerFrame),
            shortText(figures.wallSeconds.median), shortText(figures.busyCores),
            shortText(Double(figures.outputBytes) / 1e6),
            shortText(figures.peakMemoryBytes.map { Double($0) / Double(1 << 20) }),
          ]
        })
    lines.append("")
    lines += ColumnText.lines(
      [["theirs ÷ ours", "CPU", "wall", "size"]]
        + comparison.ratios.map { ratio in
          let shown = ratio.theirsByOurs
          return [
            "\(ratio.peer) ÷ \(ratio.ours)", shortText(shown.cpuSeconds) + "×",
            shortText(shown.wallSeconds) + "×", shortText(shown.outputBytes) + "×",
          ]
        })
    lines += (comparison.checks ?? []).map { "\($0.name): \($0.words)" }
    // A script is printed once.
    var scripts: Set<String> = []
    let commands = (comparison.commands ?? []).map { command in
      let words = command.words.map {
        $0.contains("\n") && !scripts.insert($0).inserted ? "SCRIPT" : $0
      }
      return "\(command.name): \(quoted(words))"
    }
    return lines
      + (commands.isEmpty
        ? [] : ["", "command lines (\(PeerComparison.Command.folder): the folder of the output)"])
      + commands
  }
}

extension BenchmarkTable {
  private static func lines(_ floor: FloorFigures) -> [String] {
    var lines = [
      "",
      "against the floor · -j \(floor.jobs) · medians of \(floor.rounds) rounds, parts and runs in turn · "
        + "CPU ms per picture written",
    ]
    let stages = floor.stages + [floor.whole].compactMap(\.self)
    if !stages.isEmpty {
      lines += ColumnText.lines([floorColumns] + stages.map(row))
      lines.append("user + system, CPU ms per picture")
      lines += ColumnText.lines([["", "read", "copy", "ours"]] + stages.map(split))
    }
    return lines + floor.notes.map { "note: " + $0 }
  }

  private static let floorColumns = [
    "", "pictures", "Mpx", "decode", "+ RGB", "copy", "floor", "ours", "ours/floor",
    "above floor, ms/Mpx", "cores busy", "files", "MB out",
  ]

  private static func row(_ stage: FloorStage) -> [String] {
    [
      stage.name, "\(stage.frames)", shortText(stage.megapixels),
      shortText(stage.decode?.cpuMillisecondsPerFrame),
      shortText(stage.convert?.cpuMillisecondsPerFrame),
      shortText(stage.copy.cpuMillisecondsPerFrame),
      shortText(stage.floorMillisecondsPerFrame),
      shortText(stage.ours.cpuMillisecondsPerFrame), shortText(stage.oursByFloor),
      shortText(stage.aboveFloorMillisecondsPerMegapixel),
      shortText(stage.busyCores), "\(stage.files)",
      shortText(Double(stage.bytes) / 1e6),
    ]
  }

  private static func split(_ stage: FloorStage) -> [String] {
    func text(_ cost: FloorCost?) -> String {
      guard let cost, stage.frames > 0 else { return "-" }
      let scale = 1000 / Double(stage.frames)
      return shortText(cost.userSeconds.median * scale) + " + "
        + shortText(cost.systemSeconds.median * scale)
    }
    return [stage.name, text(stage.convert ?? stage.decode), text(stage.copy), text(stage.ours)]
  }
}
